//! `resolab-core probe`: measures a running path with packets (`udp`) or a connection (`tcp`) and
//! writes the results as records. Not for: measuring; see `resolab_link::probe`.

use resolab_link::clock;
use resolab_link::enter::EnterError;
use resolab_link::probe::{
    BulkParameters, LinkProbe, MIN_PACKET_BYTES, ProbeError, TrainParameters,
};
use resolab_record::{LinkDirection, Record};
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use std::process::ExitCode;
use std::time::Duration;

/// The longest duration of a train or transfer, in seconds.
const LONGEST_S: f64 = 600.0;

/// The arguments of a probe.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    method: ProbeMethod,
}

#[derive(clap::Subcommand)]
enum ProbeMethod {
    /// Send numbered packets and write their send and receive times, a `probe` record per
    /// direction.
    Udp(UdpArguments),
    /// Send as fast as TCP permits and write the received amount, a `bulk_transfer` record.
    Tcp(TcpArguments),
}

#[derive(clap::Args)]
struct ProbedPath {
    /// Process id of the path, as in its path_ready record.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    path: i32,
    /// Label to copy into the records.
    #[arg(long)]
    label: Option<String>,
}

#[derive(clap::Args)]
struct UdpArguments {
    #[command(flatten)]
    to: ProbedPath,
    /// Direction of the packets; `both`: both directions at once.
    #[arg(long)]
    direction: TrainDirections,
    /// Number of packets per direction.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    packets: u32,
    /// IP length of each packet.
    #[arg(long, value_name = "BYTES", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(i64::from(MIN_PACKET_BYTES)..=65_535))]
    packet_bytes: u32,
    /// Microseconds between packets; 0: as fast as the socket takes packets.
    #[arg(long, value_name = "US", required_unless_present = "rate_bps",
          conflicts_with = "rate_bps", value_parser = parse_non_negative)]
    interval_us: Option<f64>,
    /// Bits of IP packets per second to send, instead of an interval.
    #[arg(long, value_name = "BPS", value_parser = parse_positive)]
    rate_bps: Option<f64>,
    /// Time after the last packet sent or received before the rest count as lost; more than the
    /// link's delay.
    #[arg(long, value_name = "MS", default_value_t = 2_000,
          value_parser = clap::value_parser!(u32).range(1..=600_000))]
    silence_ms: u32,
}

#[derive(clap::Args)]
struct TcpArguments {
    #[command(flatten)]
    to: ProbedPath,
    /// Direction of the data.
    #[arg(long)]
    direction: TransferDirection,
    /// Time before the counted part.
    #[arg(long, value_name = "MS", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(0..=600_000))]
    warm_up_ms: u32,
    /// Duration of the counted part.
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = parse_positive)]
    seconds: f64,
    /// Congestion control instead of the machine's default, e.g. `cubic`.
    #[arg(long, value_name = "NAME")]
    congestion_control: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TrainDirections {
    Up,
    Down,
    Both,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TransferDirection {
    Up,
    Down,
}

/// Measures, writes the records and ends.
pub fn run(arguments: Arguments) -> ExitCode {
    let measured = match arguments.method {
        ProbeMethod::Udp(wanted) => run_train(wanted),
        ProbeMethod::Tcp(wanted) => run_transfer(wanted),
    };
    let records = match measured {
        Ok(records) => records,
        Err(ProbeFailure::Usage(message)) => return output::fail(output::EXIT_USAGE, message),
        Err(ProbeFailure::Probe(error)) => {
            return output::fail(exit_code(&error), format!("failed to {error}"));
        }
    };
    let start = output::start_record("probe", clock::monotonic_ns());
    let written = std::iter::once(&start)
        .chain(&records)
        .try_for_each(output::write_record);
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => CommandRefusal::unwritten(error).exit(),
    }
}

enum ProbeFailure {
    Usage(String),
    Probe(ProbeError),
}

impl From<ProbeError> for ProbeFailure {
    fn from(error: ProbeError) -> Self {
        Self::Probe(error)
    }
}

fn run_train(wanted: UdpArguments) -> Result<Vec<Record>, ProbeFailure> {
    let interval_us = match (wanted.interval_us, wanted.rate_bps) {
        (_, Some(rate_bps)) => f64::from(wanted.packet_bytes) * 8e6 / rate_bps,
        (interval_us, None) => interval_us.unwrap_or_default(),
    };
    if interval_us * 1e-6 * f64::from(wanted.packets) > LONGEST_S {
        return Err(ProbeFailure::Usage(format!(
            "failed to send {} packets at that rate: it takes longer than {LONGEST_S} s; send \
             fewer or faster",
            wanted.packets
        )));
    }
    let order = TrainParameters {
        label: wanted.to.label,
        packets_count: wanted.packets,
        packet_bytes: wanted.packet_bytes,
        interval_ns: (interval_us * 1e3).round() as u64,
        silence_ns: u64::from(wanted.silence_ms) * 1_000_000,
    };
    let directions: &[LinkDirection] = match wanted.direction {
        TrainDirections::Up => &[LinkDirection::Up],
        TrainDirections::Down => &[LinkDirection::Down],
        TrainDirections::Both => &[LinkDirection::Up, LinkDirection::Down],
    };
    let measurer = LinkProbe::join(wanted.to.path)?;
    let trains = measurer.trains(&order, directions)?;
    Ok(trains
        .into_iter()
        .map(|train| Record::Probe(Box::new(train)))
        .collect())
}

fn run_transfer(wanted: TcpArguments) -> Result<Vec<Record>, ProbeFailure> {
    if wanted.seconds + f64::from(wanted.warm_up_ms) / 1e3 > LONGEST_S {
        return Err(ProbeFailure::Usage(format!(
            "failed to send for longer than {LONGEST_S} s, the warm-up included: give less"
        )));
    }
    let order = BulkParameters {
        label: wanted.to.label,
        direction: match wanted.direction {
            TransferDirection::Up => LinkDirection::Up,
            TransferDirection::Down => LinkDirection::Down,
        },
        warm_up: Duration::from_millis(wanted.warm_up_ms.into()),
        counted: Duration::from_secs_f64(wanted.seconds),
        congestion_control: wanted.congestion_control,
    };
    let measurer = LinkProbe::join(wanted.to.path)?;
    Ok(vec![Record::BulkTransfer(measurer.bulk(&order)?)])
}

fn exit_code(error: &ProbeError) -> u8 {
    match error {
        ProbeError::Join(EnterError::NoPath(_)) | ProbeError::PacketTooLarge(_) => {
            output::EXIT_CONFIGURATION
        }
        ProbeError::Join(_)
        | ProbeError::Socket { .. }
        | ProbeError::Overflow { .. }
        | ProbeError::Transfer(_)
        | ProbeError::PathEnded
        | ProbeError::ClockSet(_) => output::EXIT_MACHINE,
        ProbeError::NoStamp(_) | ProbeError::Thread(_) => output::EXIT_INTERNAL,
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("not a number above 0".to_owned()),
    }
}

fn parse_non_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value >= 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("not a number of at least 0".to_owned()),
    }
}

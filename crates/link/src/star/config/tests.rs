//! Tests of `config`.

use super::*;

fn read(text: &str) -> Result<InternetConfig, InternetConfigError> {
    complete(toml::from_str(text).unwrap())
}

fn refusal(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

const HOME: &str = "[[host]]\nname = \"home\"\n[[host.network]]\nprefix = \"198.18.0.2/32\"\n";

#[test]
fn what_was_left_out_is_written_out() {
    let config = read(HOME).unwrap();
    assert_eq!((config.seed, config.mtu_bytes), (Some(1), Some(1_500)));
    let home = &config.hosts[0];
    assert_eq!(home.address, Some("198.18.0.2".parse().unwrap()));
    assert_eq!(
        (home.one_way_ms, home.loss_ratio, home.down),
        (0.0, 0.0, false)
    );
    assert_eq!((home.rate_up_mbps, home.queue_packets), (None, None));
}

#[test]
fn the_source_address_is_the_first_single_one_or_the_second_of_a_network() {
    let of = |prefixes: &[&str]| {
        let networks = prefixes
            .iter()
            .map(|prefix| format!("[[host.network]]\nprefix = \"{prefix}\"\n"));
        let text = format!("[[host]]\nname = \"a\"\n{}", networks.collect::<String>());
        read(&text).unwrap().hosts[0].address.unwrap().to_string()
    };
    assert_eq!(
        of(&["198.18.8.0/24", "198.18.9.9/32", "198.18.9.7/32"]),
        "198.18.9.9"
    );
    assert_eq!(of(&["198.18.8.0/24", "198.18.9.0/24"]), "198.18.8.1");
}

#[test]
fn a_host_can_name_its_address_which_must_be_its_own() {
    let with =
        |address: &str| HOME.replace("[[host.n", &format!("address = \"{address}\"\n[[host.n"));
    assert!(read(&with("198.18.0.2")).is_ok());
    assert!(refusal(&with("198.18.0.3")).contains("198.18.0.3 must be in one of its networks"));
}

#[test]
fn names_are_checked_and_told_apart() {
    for name in ["", "Home", "a.b", &"a".repeat(64)] {
        let text = HOME.replace("\"home\"", &format!("{name:?}"));
        assert!(refusal(&text).contains("its name must be"), "{name}");
    }
    let twice = format!("{HOME}{}", HOME.replace("0.2/", "0.3/"));
    assert!(refusal(&twice).contains("take another"));
}

#[test]
fn prefixes_are_networks_of_addresses_a_host_can_have() {
    for bad in [
        "198.18.0.1/24",
        "198.18.0.1",
        "127.0.0.1/32",
        "0.0.0.0/0",
        "224.0.0.0/8",
        "fd00::/64",
    ] {
        let text = HOME.replace("198.18.0.2/32", bad);
        assert!(refusal(&text).contains(bad), "{bad}");
    }
    let none = "[[host]]\nname = \"a\"\nnetwork = []\n";
    assert!(refusal(none).contains("[[host.network]]"));
}

#[test]
fn an_address_is_one_hosts_only_and_a_host_can_nest_its_networks() {
    let nested = format!("{HOME}[[host.network]]\nprefix = \"198.18.0.0/24\"\n");
    assert!(read(&nested).is_ok());
    let twice = format!("{HOME}[[host.network]]\nprefix = \"198.18.0.2/32\"\n");
    assert!(refusal(&twice).contains("stands twice"));
    let other = "[[host]]\nname = \"b\"\n[[host.network]]\nprefix = \"198.18.0.0/24\"\n";
    let clash = refusal(&format!("{HOME}{other}"));
    assert!(
        clash.contains("\"b\"") && clash.contains("\"home\""),
        "{clash}"
    );
}

#[test]
fn values_have_their_ranges_and_keys_are_known() {
    for (line, key) in [
        ("one_way_ms = -1", "home: one_way_ms"),
        ("one_way_ms = nan", "home: one_way_ms"),
        ("loss_ratio = 1.1", "home: loss_ratio"),
        ("rate_up_mbps = 0", "home: rate_up_mbps"),
        ("rate_down_mbps = 1e9", "home: rate_down_mbps"),
        ("queue_packets = 99999999", "home: queue_packets"),
    ] {
        let text = HOME.replace("[[host.network]]", &format!("{line}\n[[host.network]]"));
        assert!(refusal(&text).contains(key), "{line}");
    }
    assert!(refusal(&format!("{HOME}extra_one_way_ms = 1e6\n")).contains("extra_one_way_ms"));
    assert!(refusal(&format!("mtu_bytes = 100\n{HOME}")).contains("use mtu_bytes"));
    assert!(toml::from_str::<InternetConfig>(&format!("{HOME}delay = 1\n")).is_err());
    assert!(refusal("host = []").contains("0 hosts"));
}

#[test]
fn a_file_that_is_none_is_said_so_on_one_line() {
    let missing = load(Path::new("/nowhere/box.toml"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("/nowhere/box.toml"), "{missing}");
    let file = std::env::temp_dir().join(format!("resolab-internet-{}.toml", std::process::id()));
    std::fs::write(&file, "seed = 1\nhost = 3\n").unwrap();
    let malformed = load(&file).unwrap_err().to_string();
    std::fs::remove_file(file).unwrap();
    assert!(
        malformed.contains("line 2") && !malformed.contains('\n'),
        "{malformed}"
    );
}

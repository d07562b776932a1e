//! Text forms of record data used by few types. Not for: the choice of types (`record_data`).

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

const DAY_S: u32 = 86_400;

/// Writes seconds since 1970 as `YYYYMMDDHHmmSS` (RFC 4034 section 3.2).
pub(super) fn instant(seconds: u32) -> String {
    let (year, month, day) = date(seconds / DAY_S);
    let second = seconds % DAY_S;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// Returns year, month and day of a day since 1970-01-01. The calendar repeats every 400 years;
/// here each period begins in March.
fn date(day: u32) -> (u32, u32, u32) {
    let day = day + 719_468;
    let (era, day_of_era) = (day / 146_097, day % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let is_next_year = u32::from(month <= 2);
    (year + era * 400 + is_next_year, month, day)
}

/// Encodes bytes as hexadecimal digits (RFC 4648 section 8).
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(digits, "{byte:02X}").expect("a string takes all");
    }
    digits
}

/// Encodes base 32 with the hexadecimal alphabet, without padding (RFC 4648 section 7).
pub(super) fn base32hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
    let mut text = String::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(char::from(DIGITS[(bits >> count & 31) as usize]));
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        text.push(char::from(DIGITS[(bits << (5 - count) & 31) as usize]));
    }
    text
}

/// Writes bytes like `00-00-5e-00-53-2a` (RFC 7043 section 3.2).
pub(super) fn octets(bytes: &[u8]) -> String {
    let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join("-")
}

/// Writes bytes like `2001:0db8:1140:1000` (RFC 6742 section 2.1.2).
pub(super) fn locator(bytes: [u8; 8]) -> String {
    let groups = bytes.as_chunks::<2>().0.iter();
    let groups: Vec<_> = groups
        .map(|group| hex(group).to_ascii_lowercase())
        .collect();
    groups.join(":")
}

/// Writes a location like `42 21 54.000 N 71 06 18.000 W -24.00m 30m 10000m 10m` (RFC 1876 section
/// 3). `None` for other versions and for values outside the valid ranges.
pub(super) fn location(data: &[u8; 16]) -> Option<String> {
    let number =
        |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
    if data[0] != 0 {
        return None;
    }
    let latitude = angle(number(4), 90, ["N", "S"])?;
    let longitude = angle(number(8), 180, ["E", "W"])?;
    let altitude_cm = i64::from(number(12)) - 10_000_000;
    let sign = if altitude_cm < 0 { "-" } else { "" };
    let (metres, cm) = (altitude_cm.abs() / 100, altitude_cm.abs() % 100);
    let sizes: Option<Vec<_>> = data[1..4].iter().map(|size| precision(*size)).collect();
    let sizes = sizes?.join(" ");
    Some(format!(
        "{latitude} {longitude} {sign}{metres}.{cm:02}m {sizes}"
    ))
}

/// Writes an angle from thousandths of an arc second; 2^31 is the equator or the prime meridian.
fn angle(number: u32, degrees_max: u32, [positive, negative]: [&str; 2]) -> Option<String> {
    let offset = i64::from(number) - (1 << 31);
    let direction = if offset < 0 { negative } else { positive };
    let thousandths = u32::try_from(offset.abs()).ok()?;
    if thousandths > degrees_max * 3_600_000 {
        return None;
    }
    let (degrees, minutes) = (thousandths / 3_600_000, thousandths / 60_000 % 60);
    let (seconds, thousandths) = (thousandths / 1_000 % 60, thousandths % 1_000);
    Some(format!(
        "{degrees} {minutes} {seconds}.{thousandths:03} {direction}"
    ))
}

/// Writes a size from four bits of digit and four bits of a power of ten, in centimetres.
fn precision(size: u8) -> Option<String> {
    let (digit, power) = (size >> 4, u32::from(size & 15));
    if digit > 9 || power > 9 || (digit == 0 && power > 0) {
        return None;
    }
    let cm = u64::from(digit) * 10_u64.pow(power);
    Some(match (cm / 100, cm % 100) {
        (metres @ 1.., 0) => format!("{metres}m"),
        (metres, cm) => format!("{metres}.{cm:02}m"),
    })
}

/// Writes prefixes like `1:192.168.32.0/21 !1:192.168.38.0/28` (RFC 3123 section 4).
pub(super) fn write_prefixes(mut rest: &[u8], words: &mut Vec<String>) -> Option<()> {
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let [a, b, prefix, length] = *head;
        let (address, tail) = tail.split_at_checked(usize::from(length & 0x7f))?;
        let negation = if length & 0x80 == 0 { "" } else { "!" };
        let family = u16::from_be_bytes([a, b]);
        // Zero bytes at its end are left out, which is how it is read back.
        if address.last() == Some(&0) {
            return None;
        }
        let address = match (family, prefix) {
            (1, 0..=32) => Ipv4Addr::from(filled::<4>(address)?).to_string(),
            (2, 0..=128) => Ipv6Addr::from(filled::<16>(address)?).to_string(),
            _ => return None,
        };
        words.push(format!("{negation}{family}:{address}/{prefix}"));
        rest = tail;
    }
    rest.is_empty().then_some(())
}

fn filled<const N: usize>(address: &[u8]) -> Option<[u8; N]> {
    let mut filled = [0; N];
    filled.get_mut(..address.len())?.copy_from_slice(address);
    Some(filled)
}

//! Waits for the relay's IPv6 address and route, advertised by slirp4netns and made by the kernel.
//! A browser started earlier fails to load pages when the address comes. Not for: IPv4, complete
//! when slirp4netns reports ready.

use std::fs;
use std::thread;
use std::time::Duration;

const LOOK_COUNT: u32 = 500;
const LOOK_PAUSE: Duration = Duration::from_millis(10);
/// Flag of an address not usable yet (IFA_F_TENTATIVE, linux/if_addr.h).
const TENTATIVE: u8 = 0x40;
/// Scope of an address good beyond the link (net/if_inet6 shows the scope as in net/ipv6.h).
const GLOBAL_SCOPE: &str = "00";

/// Waits for an address and a default route; returns false without both in 5 s.
pub fn stands() -> bool {
    (0..LOOK_COUNT).any(|look| {
        if look > 0 {
            thread::sleep(LOOK_PAUSE);
        }
        let read = |file| fs::read_to_string(file).unwrap_or_default();
        has_address(&read("/proc/self/net/if_inet6"))
            && has_default_route(&read("/proc/self/net/ipv6_route"))
    })
}

/// Searches lines of: address, interface number, prefix length, scope, flags, name.
fn has_address(text: &str) -> bool {
    text.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, scope, flags, name] = words[..] else {
            return false;
        };
        let is_final = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & TENTATIVE == 0);
        scope == GLOBAL_SCOPE && name != "lo" && is_final
    })
}

/// Searches lines of: destination, prefix length, source, prefix length, next hop, …, name.
fn has_default_route(text: &str) -> bool {
    text.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(1) == Some(&"00") && words.last().is_some_and(|name| *name != "lo")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_being_checked_is_none_yet() {
        let line = |scope, flags, name| {
            format!("fd00000000000000a8a1b4fffe2b6c3d 02 40 {scope} {flags}     {name}\n")
        };
        assert!(has_address(&line("00", "00", "tap0")));
        assert!(!has_address(&line("00", "40", "tap0")));
        assert!(!has_address(&line("20", "80", "tap0")));
        assert!(!has_address(&line("00", "80", "lo")));
    }

    #[test]
    fn a_route_to_everywhere_counts() {
        let zero = "00000000000000000000000000000000";
        let line = |name| format!("{zero} 00 {zero} 00 {zero} 00000400 00000001 0 00000003 {name}");
        assert!(has_default_route(&line("tap0")));
        assert!(!has_default_route(&line("lo")));
        assert!(!has_default_route(&format!("{zero} 40 x tap0")));
    }
}

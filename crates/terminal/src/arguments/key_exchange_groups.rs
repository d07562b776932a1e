//! The key exchange groups of a client, as typed. Not for: the meaning of groups; see
//! `resolab_record::KeyExchangeGroup`.

use resolab_record::KeyExchangeGroup;

/// The groups to offer in handshakes.
#[derive(Debug, clap::Args)]
pub struct GroupArguments {
    /// Key exchange groups to offer, with a key share of the first, preferred group. x25519mlkem768
    /// adds a share of x25519 if listed. The default is the browsers' list.
    #[arg(
        long = "groups",
        value_name = "GROUP,...",
        value_delimiter = ',',
        value_parser = read,
        default_value = "x25519mlkem768,x25519,secp256r1,secp384r1"
    )]
    pub groups: Vec<KeyExchangeGroup>,
}

fn read(typed: &str) -> Result<KeyExchangeGroup, String> {
    let named = |group: &KeyExchangeGroup| group.name() == typed;
    KeyExchangeGroup::ALL
        .into_iter()
        .find(named)
        .ok_or_else(|| {
            let names = KeyExchangeGroup::ALL.map(KeyExchangeGroup::name);
            format!("no such group; there are {}", names.join(", "))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct GroupCommandLine {
        #[command(flatten)]
        groups: GroupArguments,
    }

    #[test]
    fn groups_are_a_list_and_all_of_them_by_default() {
        let read = |typed: &[&str]| {
            let typed = ["query"].iter().chain(typed);
            GroupCommandLine::try_parse_from(typed).map(|line| line.groups.groups)
        };
        assert_eq!(read(&[]).unwrap(), KeyExchangeGroup::ALL);
        assert_eq!(
            read(&["--groups", "secp384r1,x25519"]).unwrap(),
            [KeyExchangeGroup::Secp384r1, KeyExchangeGroup::X25519]
        );
        for wrong in ["x448", "", "x25519,"] {
            assert!(read(&["--groups", wrong]).is_err(), "{wrong:?}");
        }
    }
}

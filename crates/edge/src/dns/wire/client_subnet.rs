//! The client subnet option of a query (RFC 7871 section 6), and of the answer. Not for: the choice
//! of the answer's scope.

const HEAD_BYTES: usize = 4;
const SCOPE_AT: usize = 3;
const ADDRESS_MAX_BYTES: usize = 16;
const IPV4: u16 = 1;
const IPV6: u16 = 2;

/// The option as received, no longer than the source prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientSubnetOption {
    bytes: [u8; HEAD_BYTES + ADDRESS_MAX_BYTES],
    length: usize,
}

impl ClientSubnetOption {
    /// Reads an option. `None` for an unknown address family, a prefix beyond the address length,
    /// or bits beyond the prefix. Also `None` for a number of address bytes not matching the
    /// prefix, and for a scope in a query.
    pub fn read(value: &[u8]) -> Option<Self> {
        let (head, address) = value.split_first_chunk::<HEAD_BYTES>()?;
        let [family_high, family_low, source, scope] = *head;
        let bits = match u16::from_be_bytes([family_high, family_low]) {
            IPV4 => 32,
            IPV6 => 128,
            _ => return None,
        };
        if source > bits || scope != 0 || address.len() != usize::from(source).div_ceil(8) {
            return None;
        }
        let has_bits_behind = address
            .last()
            .is_some_and(|last| !source.is_multiple_of(8) && last << (source % 8) != 0);
        if has_bits_behind {
            return None;
        }
        let mut bytes = [0; HEAD_BYTES + ADDRESS_MAX_BYTES];
        bytes[..value.len()].copy_from_slice(value);
        Some(Self {
            bytes,
            length: value.len(),
        })
    }

    /// Returns the answer's option with this scope, limited to the bits of the address family. For
    /// a client hiding its subnet the scope is 0 (section 7.2.1).
    pub fn answer_option(mut self, scope: u8) -> Self {
        let bits = if self.bytes[1] == IPV4 as u8 { 32 } else { 128 };
        let is_hidden = self.bytes[2] == 0;
        self.bytes[SCOPE_AT] = if is_hidden { 0 } else { scope.min(bits) };
        self
    }

    /// Returns the data of the option.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_repeats_the_option_with_its_scope() {
        let asked = ClientSubnetOption::read(&[0, 1, 24, 0, 192, 0, 2]).unwrap();
        assert_eq!(
            asked.answer_option(20).as_bytes(),
            [0, 1, 24, 20, 192, 0, 2]
        );
        assert_eq!(asked.answer_option(64).as_bytes()[SCOPE_AT], 32);
        let odd = ClientSubnetOption::read(&[0, 1, 25, 0, 192, 0, 2, 128]).unwrap();
        assert_eq!(
            odd.answer_option(25).as_bytes(),
            [0, 1, 25, 25, 192, 0, 2, 128]
        );
        let six = ClientSubnetOption::read(&[0, 2, 12, 0, 0x20, 0x10]).unwrap();
        assert_eq!(six.answer_option(56).as_bytes(), [0, 2, 12, 56, 0x20, 0x10]);
        let hidden = ClientSubnetOption::read(&[0, 1, 0, 0]).unwrap();
        assert_eq!(hidden.answer_option(24).as_bytes(), [0, 1, 0, 0]);
    }

    #[test]
    fn what_is_no_client_subnet_is_told() {
        for value in [
            &[][..],
            &[0, 1, 24],
            &[0, 3, 24, 0, 192, 0, 2],
            &[0, 1, 33, 0, 192, 0, 2, 1, 0],
            &[0, 1, 24, 0, 192, 0],
            &[0, 1, 24, 0, 192, 0, 2, 0],
            &[0, 1, 8, 0, 192, 0, 2],
            &[0, 1, 0, 0, 0, 0, 0, 0, 0],
            &[0, 1, 20, 0, 192, 0, 0x1f],
            &[0, 1, 24, 24, 192, 0, 2],
            &[0, 2, 129, 0],
        ] {
            assert_eq!(ClientSubnetOption::read(value), None, "{value:?}");
        }
    }
}

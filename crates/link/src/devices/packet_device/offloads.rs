//! Turns off every offload feature of a network device (ethtool(8) features). With offloads the
//! stack hands over packets unlike those on a wire: segments joined into large ones, checksums left
//! out. Not for: features fixed by the kernel.

use crate::hosts::interface::name_field;
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The ethtool request, from linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
/// The commands reading and setting features, from linux/ethtool.h.
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
/// Bit of the answer to setting features: some features kept another value.
const ETHTOOL_F_WISH: libc::c_int = 1 << 1;
/// Words of feature bits read at most; kernels have two.
const WORDS_LIMIT: usize = 8;
/// Words before the features: the command and the number of blocks.
const HEAD_WORDS: usize = 2;
/// Words in a block of an answer: available, requested, active, never changed.
const GET_BLOCK_WORDS: usize = 4;

/// Turns off every changeable feature of the device `name`; `socket` is any socket of the device's
/// network namespace.
pub fn turn_off(socket: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    let mut features = [0; HEAD_WORDS + WORDS_LIMIT * GET_BLOCK_WORDS];
    features[0] = ETHTOOL_GFEATURES;
    features[1] = WORDS_LIMIT as u32;
    request(socket, name, &mut features)?;
    let mut wanted = request_all_off(&features);
    let answer = request(socket, name, &mut wanted)?;
    if answer & ETHTOOL_F_WISH != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(())
}

/// Returns the request turning off every feature available in the answer.
fn request_all_off(features: &[u32]) -> Vec<u32> {
    let blocks_count = (features[1] as usize).min(WORDS_LIMIT);
    let blocks = features[HEAD_WORDS..].chunks_exact(GET_BLOCK_WORDS);
    let mut wanted = vec![ETHTOOL_SFEATURES, blocks_count as u32];
    for block in blocks.take(blocks_count) {
        // Which bits to set, and to what.
        wanted.extend([block[0], 0]);
    }
    wanted
}

fn request(socket: BorrowedFd<'_>, name: &str, words: &mut [u32]) -> Result<libc::c_int, Errno> {
    let ifr_ifru = libc::__c_anonymous_ifr_ifru {
        ifru_data: words.as_mut_ptr().cast(),
    };
    let request = libc::ifreq {
        ifr_name: name_field(name)?,
        ifr_ifru,
    };
    // SAFETY: a complete ifreq whose data is as long as its head says; both outlive the call.
    let answer = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw const request) };
    Errno::result(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_is_asked_to_be_off() {
        let mut answer = vec![ETHTOOL_GFEATURES, 2];
        answer.extend([0b1011, 0b11, 0b11, 0]);
        answer.extend([0b1, 0, 0, 0]);
        answer.extend([0; GET_BLOCK_WORDS * (WORDS_LIMIT - 2)]);
        assert_eq!(
            request_all_off(&answer),
            [ETHTOOL_SFEATURES, 2, 0b1011, 0, 0b1, 0]
        );
    }
}

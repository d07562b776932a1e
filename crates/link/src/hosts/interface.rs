//! A network interface's name in the form for ioctls on interfaces (netdevice(7)). Not for: the
//! ioctls themselves.

use nix::errno::Errno;

/// Returns the name zero-terminated, in the fixed field of `struct ifreq`.
pub fn name_field(name: &str) -> Result<[libc::c_char; libc::IFNAMSIZ], Errno> {
    let mut field = [0; libc::IFNAMSIZ];
    if name.len() >= field.len() {
        return Err(Errno::ENAMETOOLONG);
    }
    for (slot, byte) in field.iter_mut().zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    Ok(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_terminated_or_refused() {
        assert_eq!(name_field("lo").unwrap()[..3], [b'l' as _, b'o' as _, 0]);
        assert!(name_field("fifteen-letters").is_ok());
        assert_eq!(name_field("sixteen-letters!"), Err(Errno::ENAMETOOLONG));
    }
}

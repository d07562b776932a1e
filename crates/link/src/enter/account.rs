//! Another user for a program started by root. A browser loading strangers' pages needs no rights
//! over the machine. Not for: making users.

use super::EnterError;
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, User, getgrouplist, setgroups, setresgid, setresuid};
use std::ffi::CString;
use std::io;

/// The uid, gid and groups of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    uid: Uid,
    gid: Gid,
    groups: Vec<Gid>,
}

impl Account {
    /// Looks an account up by name (passwd(5)).
    pub fn find_by_name(name: &str) -> Result<Self, EnterError> {
        let refused =
            |why: &dyn std::fmt::Display| EnterError::Account(format!("run as user {name}: {why}"));
        let user = User::from_name(name)
            .map_err(|error| refused(&error))?
            .ok_or_else(|| refused(&"there is none of this name; `getent passwd` lists them"))?;
        let name = CString::new(name).map_err(|error| refused(&error))?;
        let groups = getgrouplist(&name, user.gid).map_err(|error| refused(&error))?;
        Ok(Self {
            uid: user.uid,
            gid: user.gid,
            groups,
        })
    }

    /// Takes on the account for good, and gives up every right. Makes system calls only, because
    /// the call comes between fork and exec.
    pub(super) fn become_user(&self) -> io::Result<()> {
        setgroups(&self.groups)?;
        setresgid(self.gid, self.gid, self.gid)?;
        setresuid(self.uid, self.uid, self.uid)?;
        // Nor may what it runs win rights back by its owner (setuid) or capabilities of its file.
        prctl::set_no_new_privs()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_name() {
        let root = Account::find_by_name("root").unwrap();
        assert_eq!((root.uid, root.gid), (Uid::from_raw(0), Gid::from_raw(0)));
        let error = Account::find_by_name("no such user here")
            .unwrap_err()
            .to_string();
        assert!(error.contains("getent passwd"), "{error}");
    }
}

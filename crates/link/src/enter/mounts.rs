//! The program's view of the file system: private `/etc/resolv.conf`, `/etc/hosts` and
//! `/etc/nsswitch.conf`, no resolving service left to bypass these files, and a `/proc` of the new
//! pid namespace. Everything is in a private mount namespace, and ends with the namespace. Not for:
//! hiding files from the program.

use super::Program;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::Mode;
use nix::unistd::{chroot, fchdir};
use std::fs;
use std::path::{Path, PathBuf};

/// Sockets of resolving services: a network namespace does not separate Unix sockets by path.
const MASKED_FOLDERS: [&str; 3] = ["/run/systemd/resolve", "/run/nscd", "/run/avahi-daemon"];
/// The folder for private files before each file is bound to the final path; covered for this
/// moment.
const SCRATCH_FOLDER: &str = "/tmp";

/// The reasons for a failed view.
#[derive(Debug)]
pub enum MountError {
    /// The kernel refuses a new `/proc`: common in containers hiding parts of `/proc`.
    ProcRefused(Errno),
    /// Any other failure; the text reads after "failed to".
    Other(String),
}

/// Makes the view in the current mount namespace, which must be private to this process.
pub fn prepare(program: &Program, fresh_proc: bool) -> Result<(), MountError> {
    let none: Option<&str> = None;
    let resolver = resolver_text(program);
    make_private().map_err(other_error("make mounts private"))?;
    if fresh_proc {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        mount(Some("proc"), "/proc", Some("proc"), flags, none).map_err(MountError::ProcRefused)?;
    }
    for folder in MASKED_FOLDERS
        .iter()
        .filter(|folder| Path::new(folder).is_dir())
    {
        cover(folder).map_err(other_error("mask resolving services"))?;
    }
    cover(SCRATCH_FOLDER).map_err(other_error("make a private /tmp for a moment"))?;
    let result = bind_files(program, resolver.as_deref());
    let uncovered = umount2(SCRATCH_FOLDER, MntFlags::MNT_DETACH);
    result?;
    uncovered.map_err(other_error("uncover /tmp"))
}

/// Makes every mount of this namespace private, hidden from the parent namespace. After chroot(2)
/// the root may be an ordinary folder instead of a mount, with no name to pass to mount(2).
/// setns(2) therefore enters the namespace's own root, from where every mount is visible;
/// afterwards the old root and folder are restored.
fn make_private() -> Result<(), Errno> {
    let none: Option<&str> = None;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    match mount(none, "/", none, private, none) {
        Err(Errno::EINVAL) => {}
        done => return done,
    }
    let folder = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let root = open("/", folder, Mode::empty())?;
    let here = open(".", folder, Mode::empty())?;
    let namespace = open(
        "/proc/self/ns/mnt",
        OFlag::O_RDONLY | OFlag::O_CLOEXEC,
        Mode::empty(),
    )?;
    setns(namespace, CloneFlags::CLONE_NEWNS)?;
    mount(none, "/", none, private, none)?;
    fchdir(&root)?;
    chroot(".")?;
    fchdir(&here)
}

/// Returns the text of the program's resolv.conf(5). Reads the machine's file before masking the
/// folder at the end of a possible link. Without a file the C library asks 127.0.0.1.
fn resolver_text(program: &Program) -> Option<String> {
    match program.nameserver {
        Some(nameserver) => Some(format!("nameserver {nameserver}\n")),
        None => fs::read_to_string("/etc/resolv.conf").ok(),
    }
}

fn bind_files(program: &Program, resolver: Option<&str>) -> Result<(), MountError> {
    if let Some(text) = resolver {
        bind("/etc/resolv.conf", text)?;
    }
    bind("/etc/hosts", &program.hosts_text)?;
    match fs::read_to_string("/etc/nsswitch.conf") {
        Ok(text) => bind("/etc/nsswitch.conf", &files_and_dns_only(&text)),
        // Without the file the C library asks files and DNS anyway.
        Err(_) => Ok(()),
    }
}

/// Puts a file with this text in the position of `target`.
fn bind(target: &str, text: &str) -> Result<(), MountError> {
    let file_name = target.rsplit('/').next().unwrap_or(target);
    let private = Path::new(SCRATCH_FOLDER).join(file_name);
    let failed = |error: &dyn std::fmt::Display| {
        MountError::Other(format!("give the program its own {target}: {error}"))
    };
    fs::write(&private, text).map_err(|error| failed(&error))?;
    if let Some(missing) = missing_in_masked_folder(Path::new(target)) {
        fs::write(missing, "").map_err(|error| failed(&error))?;
    }
    let none: Option<&str> = None;
    mount(Some(&private), target, none, MsFlags::MS_BIND, none).map_err(|error| {
        if error == Errno::ENOENT {
            failed(&"it does not exist; create it (it may be empty)")
        } else {
            failed(&error)
        }
    })
}

/// Returns the missing end of a link such as `/etc/resolv.conf -> /run/systemd/resolve/…`, when
/// masking removed the end. A file may be made only there: everywhere outside the masked folders
/// the file would be the machine's own.
fn missing_in_masked_folder(target: &Path) -> Option<PathBuf> {
    let end = target.parent()?.join(fs::read_link(target).ok()?);
    let folder = end.parent()?.canonicalize().ok()?;
    let end = folder.join(end.file_name()?);
    let masked = MASKED_FOLDERS
        .iter()
        .any(|masked| folder.starts_with(masked));
    (masked && !end.exists()).then_some(end)
}

fn cover(folder: &str) -> Result<(), Errno> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(
        Some("tmpfs"),
        folder,
        Some("tmpfs"),
        flags,
        Some("mode=0755,size=16m"),
    )
}

fn other_error(attempt: &'static str) -> impl Fn(Errno) -> MountError {
    move |error| MountError::Other(format!("{attempt}: {error}"))
}

/// Returns an nsswitch.conf(5) in which host names are looked up in files and DNS only.
fn files_and_dns_only(text: &str) -> String {
    let others = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("hosts:"));
    others
        .chain(["hosts: files dns"])
        .flat_map(|line| [line, "\n"])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hosts_line_changes() {
        let text = "passwd: files systemd\nhosts: files resolve [!UNAVAIL=return] dns\nrpc: db\n";
        assert_eq!(
            files_and_dns_only(text),
            "passwd: files systemd\nrpc: db\nhosts: files dns\n"
        );
    }

    #[test]
    fn nothing_is_made_outside_masked_folders() {
        let folder = std::env::temp_dir().join(format!("resolab-mounts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let link = folder.join("resolv.conf");
        std::os::unix::fs::symlink(folder.join("absent"), &link).unwrap();
        assert_eq!(missing_in_masked_folder(&link), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}

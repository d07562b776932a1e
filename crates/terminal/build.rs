//! Tells the program which build it is: Cargo gives a build script no name of a custom profile, only the path of its
//! output folder, `target/[TARGET/]PROFILE/build/...`. Not for: anything else about the build.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var("OUT_DIR").unwrap_or_default();
    let mut above_build = Path::new(&out)
        .ancestors()
        .skip_while(|folder| !folder.ends_with("build"));
    let profile = above_build.nth(1).and_then(Path::file_name).map_or_else(
        || "unknown".into(),
        |name| name.to_string_lossy().into_owned(),
    );
    println!("cargo::rustc-env=RESOLAB_BUILD_PROFILE={profile}");
}

//! `resolab-core schema`: the JSON Schema of every record and command, for readers of datasets.
//! Not for: making the schema from the types; see `scripts/schema`.

use std::io::Write;
use std::process::ExitCode;

/// The schema of this build's records. `scripts/check` compares the file with the types.
const SCHEMA: &str = include_str!("../../../schema/records.schema.json");

/// Prints the schema document.
pub fn run() -> ExitCode {
    match std::io::stdout().write_all(SCHEMA.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => resolab_terminal::command_refusal::CommandRefusal::unwritten(error).exit(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_of_the_format_written_by_this_build() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        assert_eq!(schema["x-format-version"], resolab_record::FORMAT_VERSION);
    }
}

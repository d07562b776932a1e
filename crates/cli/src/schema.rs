//! `resolab-core schema`: the JSON Schema of every record and command, for the Python side and for
//! all readers of datasets. The schema is one document with one `$defs` table.

use resolab_record::{
    EdgeCommand, GatewayCommand, InternetCommand, PathCommand, Record, StubCommand, TrialFlag,
};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use std::io::Write;
use std::process::ExitCode;

/// Prints the schema document.
pub fn run() -> ExitCode {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    generator.subschema_for::<Record>();
    generator.subschema_for::<PathCommand>();
    generator.subschema_for::<EdgeCommand>();
    generator.subschema_for::<InternetCommand>();
    generator.subschema_for::<StubCommand>();
    generator.subschema_for::<GatewayCommand>();
    // Records hold flags as text: no shape refers to their list.
    generator.subschema_for::<TrialFlag>();
    let document = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "resolab records and commands",
        "x-format-version": resolab_record::FORMAT_VERSION,
        "$defs": generator.definitions(),
    });
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => crate::refusal::Refusal::unwritten(error).exit(),
    }
}

//! Prints the JSON Schema of every record and command, for `scripts/schema`. The schema is one
//! document with one `$defs` table.
//!
//! For: the committed file `schema/records.schema.json`. Not for: users; `resolab-core schema`
//! prints the committed file.
//!
//! cargo run -p resolab-record --features schema --example schema
#![allow(clippy::print_stdout)]

use resolab_record::{
    EdgeCommand, GatewayCommand, InternetCommand, PathCommand, Record, StubCommand, TrialFlag,
};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;

fn main() -> Result<(), serde_json::Error> {
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
    println!("{}", serde_json::to_string_pretty(&document)?);
    Ok(())
}

//! The settings of a site loaded by a command.
//!
//! For: a single reader of `[[site]]` keys, from the file and from commands. Not for: loading the
//! site.

use crate::web::settings::SiteConfig;
use std::net::IpAddr;

/// The arguments of the command.
pub struct SiteArguments {
    /// The host name of the site.
    pub host: String,
    /// The folder with the site's files.
    pub folder: Option<String>,
    /// The address of the site.
    pub address: Option<String>,
    /// The other keys of `[[site]]`, in TOML.
    pub settings: Option<String>,
}

impl SiteArguments {
    /// Returns the site, and true when the arguments name a ticket policy. `fallback` is the
    /// default address.
    pub fn site(self, fallback: Option<IpAddr>) -> Result<(SiteConfig, bool), String> {
        let text = self.settings.unwrap_or_default();
        let mut table: toml::Table = toml::from_str(&text).map_err(|error| one_line(&error))?;
        let names_policy = table.contains_key("ticket_policy");
        if let Some(folder) = self.folder {
            put(&mut table, "folder", folder)?;
        }
        put(&mut table, "host", self.host)?;
        if let Some(address) = self.address {
            put(&mut table, "address", address)?;
        } else if !table.contains_key("addresses") {
            let address = fallback.ok_or("the configuration has no site, so give an address")?;
            put(&mut table, "address", address.to_string())?;
        }
        let site: SiteConfig = table.try_into().map_err(|error| one_line(&error))?;
        match site.contradiction() {
            Some(reason) => Err(reason),
            None => Ok((site, names_policy)),
        }
    }
}

fn put(table: &mut toml::Table, key: &str, value: String) -> Result<(), String> {
    match table.insert(key.to_owned(), toml::Value::String(value)) {
        Some(_) => Err(format!("settings: `{key}` belongs into the command itself")),
        None => Ok(()),
    }
}

fn one_line(error: &toml::de::Error) -> String {
    format!("settings: {}", error.message().replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(address: Option<&str>, settings: &str) -> Result<(SiteConfig, bool), String> {
        let given = SiteArguments {
            host: "a.test".to_owned(),
            folder: None,
            address: address.map(str::to_owned),
            settings: Some(settings.to_owned()),
        };
        given.site("10.0.0.9".parse().ok())
    }

    #[test]
    fn settings_are_those_of_the_file() {
        let (site, names_policy) =
            given(None, "generated_prefix = \"/g/\"\nticket_policy = \"none\"").unwrap();
        assert!(names_policy);
        assert_eq!(site.addresses[0].to_string(), "10.0.0.9");
        let clone = "precoded = true\nmethods = ['GET', 'PUT']\ncors = true\nprotocols = ['h1']\n\
                     response = [{ path = '/a', status = 404 }, { path = '/b', outcome = 'hang' }]";
        assert!(given(None, clone).unwrap_err().contains("no folder"));
        let (site, _) = given(None, &clone.replace("true\nmethods", "false\nmethods")).unwrap();
        assert_eq!((site.responses.len(), site.methods.len()), (2, 2));
        let (site, _) = given(None, "addresses = [\"::1\"]\ngenerated_prefix = \"/\"").unwrap();
        assert_eq!(site.addresses[0].to_string(), "::1");
    }

    #[test]
    fn what_is_wrong_is_one_line() {
        for (address, settings, part) in [
            (None, "", "nothing to serve"),
            (Some("x"), "generated_prefix = \"/\"", "IP address"),
            (None, "host = \"b\"", "`host` belongs"),
            (None, "colour = 1", "unknown field `colour`"),
            (None, "= =", "settings"),
        ] {
            let error = given(address, settings).unwrap_err();
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        }
    }
}

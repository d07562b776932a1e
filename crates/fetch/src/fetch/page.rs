//! A page's address: `https://NAME[:PORT][/PATH]`. Not for: fetching the page.

use bytes::Bytes;
use http::Request;
use resolab_http::https_origin;
use std::str::FromStr;
use thiserror::Error;
use url::{Host, Url};

/// The error for a text without a page's address.
#[derive(Debug, Error)]
#[error("read page {text:?}: {reason}; give https://NAME/PATH")]
pub struct PageAddressError {
    text: String,
    reason: String,
}

/// The address of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAddress {
    /// The URL without its fragment.
    pub url: String,
    /// The host name of the page.
    pub host: String,
    /// The port, 443 unless given.
    pub port: u16,
}

impl PageAddress {
    /// Returns the page's origin, in the form of an ORIGIN frame.
    pub fn origin(&self) -> String {
        https_origin(&self.host, self.port)
    }

    /// Returns the request for the page.
    pub fn request(&self) -> Result<Request<Bytes>, http::Error> {
        Request::get(&self.url).body(Bytes::new())
    }
}

impl FromStr for PageAddress {
    type Err = PageAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |reason: &str| PageAddressError {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let mut url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "https" {
            return Err(wrong("it is not https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("a user name has no meaning there"));
        }
        url.set_fragment(None);
        let Some(Host::Domain(host)) = url.host() else {
            return Err(wrong("it has no name to ask for"));
        };
        Ok(Self {
            host: host.to_owned(),
            port: url.port().unwrap_or(443),
            url: url.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_name_and_a_path() {
        let page: PageAddress = "https://Example.resolab.test/a?b#c".parse().unwrap();
        assert_eq!(page.url, "https://example.resolab.test/a?b");
        assert_eq!(page.origin(), "https://example.resolab.test");
        let page: PageAddress = "https://a.test:8443".parse().unwrap();
        assert_eq!(
            (page.port, page.origin().as_str()),
            (8443, "https://a.test:8443")
        );
        assert_eq!(page.request().unwrap().uri(), "https://a.test:8443/");
    }

    #[test]
    fn what_has_no_name_is_refused() {
        for (text, says) in [
            ("a.test", "relative URL"),
            ("http://a.test/", "not https"),
            ("https://192.0.2.1/", "no name"),
            ("https://me@a.test/", "a user name"),
        ] {
            let error = text.parse::<PageAddress>().unwrap_err().to_string();
            assert!(error.contains(says) && error.contains(text), "{error}");
        }
    }
}

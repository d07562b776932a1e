//! The resource of one path: every representation with its validators, made at load.
//!
//! For: files and generated bodies alike. Not for: choosing among the representations.

use super::body::Body;
use super::encoding::Encoding;
use super::generated::{GeneratedBody, Texture};
use super::media_types::is_compressible;
use super::server_time::WaitSequence;
use bytes::Bytes;
use http::HeaderValue;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The bytes of a resource in one content coding.
#[derive(Debug, Clone)]
pub struct Representation {
    /// The bytes in this coding.
    pub body: Body,
    /// The strong entity tag: the same bytes have the same tag, also after a reload.
    pub etag: HeaderValue,
}

/// A resource with all representations.
#[derive(Debug)]
pub struct Resource {
    /// The value of the field `content-type`.
    pub content_type: HeaderValue,
    /// The representation without content coding.
    pub identity: Representation,
    /// The encoded representations, in the site's order of preference.
    pub encoded: Vec<(Encoding, Representation)>,
    /// The time of the last change in whole seconds, and the same time as field value.
    pub last_modified: Option<(SystemTime, HeaderValue)>,
    /// The wait before each answer, instead of the site's.
    pub waits: Option<WaitSequence>,
}

/// The size of the largest generated body made at load for compression, in bytes.
const KEPT_BYTES: u64 = 4 * 1_024 * 1_024;
const TAG_BYTES: usize = 8;

impl Resource {
    /// Makes a resource of a file's contents.
    pub fn from_bytes(content_type: &str, bytes: Bytes, compression: &[Encoding]) -> Self {
        let tag = digest(&bytes);
        let wanted = if is_compressible(content_type) {
            compression
        } else {
            &[]
        };
        let encoded = wanted.iter().filter_map(|encoding| {
            let shrunk = encoding.encode(&bytes);
            let worth = !shrunk.is_empty() && shrunk.len() < bytes.len();
            let token = encoding.token();
            worth.then(|| {
                (
                    *encoding,
                    representation(shrunk.into(), &format!("{tag}-{token}")),
                )
            })
        });
        Self {
            encoded: encoded.collect(),
            content_type: header(content_type),
            identity: representation(Body::Whole(bytes), &tag),
            last_modified: None,
            waits: None,
        }
    }

    /// Makes a resource of a file's contents with an existing gzip coding.
    pub fn with_gzip(content_type: &str, bytes: Bytes, gzip: Option<Bytes>) -> Self {
        let mut resource = Self::from_bytes(content_type, bytes, &[]);
        resource.encoded.extend(gzip.map(|coded| {
            let tag = format!("{}-{}", digest(&coded), Encoding::Gzip.token());
            (Encoding::Gzip, representation(Body::Whole(coded), &tag))
        }));
        resource
    }

    /// Makes a resource of a generated body; small bodies are generated once.
    pub fn from_generated(
        content_type: &str,
        mut body: GeneratedBody,
        compression: &[Encoding],
    ) -> Self {
        if body.len() > KEPT_BYTES {
            return Self::from_stream(content_type, body);
        }
        let mut bytes = Vec::with_capacity(body.len() as usize);
        while body.len() > 0 {
            bytes.extend_from_slice(&body.next(usize::MAX));
        }
        Self::from_bytes(content_type, bytes.into(), compression)
    }

    /// Makes a resource of a body generated while sending.
    pub fn from_stream(content_type: &str, body: GeneratedBody) -> Self {
        let tag = body.fingerprint();
        Self {
            content_type: header(content_type),
            identity: representation(Body::Generated(body), &tag),
            encoded: Vec::new(),
            last_modified: None,
            waits: None,
        }
    }

    /// Sets the time of the last change.
    pub fn modified(mut self, at: SystemTime) -> Self {
        let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let at = UNIX_EPOCH + Duration::from_secs(seconds);
        self.last_modified = Some((at, header(&httpdate::fmt_http_date(at))));
        self
    }
}

/// Returns the texture of a generated body of a type.
pub fn texture_of(content_type: &str, compressible: Option<bool>) -> Texture {
    if compressible.unwrap_or_else(|| is_compressible(content_type)) {
        Texture::Text
    } else {
        Texture::Noise
    }
}

fn representation(body: Body, tag: &str) -> Representation {
    Representation {
        body,
        etag: header(&format!("\"{tag}\"")),
    }
}

fn digest(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let hex = digest.as_ref().iter().take(TAG_BYTES);
    hex.fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Returns a field value. Every value here is printable ASCII; configuration values are checked
/// before.
fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

//! Media types by file extension, and the compressible media types.
//!
//! Not for: reading files.

/// The media types by extension.
const CONTENT_TYPES: [(&str, &str); 23] = [
    ("avif", "image/avif"),
    ("css", "text/css; charset=utf-8"),
    ("gif", "image/gif"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
];

/// The compressible types outside `text/`.
const COMPRESSIBLE: [&str; 6] = [
    "application/json",
    "application/wasm",
    "application/xml",
    "font/ttf",
    "image/svg+xml",
    "image/x-icon",
];

/// Returns the `content-type` of a file name; `application/octet-stream` for an unknown extension.
pub fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let extension = extension.to_ascii_lowercase();
    let known = CONTENT_TYPES
        .iter()
        .find(|(candidate, _)| *candidate == extension);
    known.map_or("application/octet-stream", |(_, content_type)| content_type)
}

/// Returns true for types of text.
pub fn is_compressible(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or("").trim();
    essence.starts_with("text/") || COMPRESSIBLE.contains(&essence)
}

//! Errors of the certificate authority.

/// The reasons why there is no authority or no leaf.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The folder or a file cannot be read or written.
    #[error("use {path}: {source}; give a folder that can be written")]
    File {
        /// The path of the file or folder.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The key and certificate are unusable.
    #[error(
        "use the certificate authority in {folder}: {reason}; remove ca.pem and ca-key.pem to have a new one made"
    )]
    Unusable {
        /// The path of the authority's folder.
        folder: String,
        /// The defect of the key or certificate.
        reason: String,
    },
    /// A leaf cannot be made.
    #[error("issue a certificate for {name}: {reason}")]
    Issue {
        /// The first name of the leaf.
        name: String,
        /// The reason for the failure.
        reason: String,
    },
}

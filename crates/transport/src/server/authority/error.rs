//! Why there is no certificate.

/// Why there is no authority.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// Reading or writing the folder.
    #[error("use {path}: {source}; give a folder that can be written")]
    File {
        /// File or folder.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Key and certificate cannot be used.
    #[error(
        "use the certificate authority in {folder}: {reason}; remove ca.pem and ca-key.pem to have a new one made"
    )]
    Unusable {
        /// The authority's folder.
        folder: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A leaf could not be made.
    #[error("issue a certificate for {name}: {reason}")]
    Issue {
        /// First name of the leaf.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

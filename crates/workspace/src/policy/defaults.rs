//! What is forbidden unless a person takes it back: files whose very name says that they hold a secret.
//!
//! The list is short on purpose. A file that only may hold a secret, such as `.npmrc`, is a person's to add.

/// As in [`Settings::forbidden_paths`](super::Settings::forbidden_paths), and before them.
pub const FORBIDDEN: &[&str] = &[
    // Environments.
    ".env*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    // Passwords and tokens.
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".git-credentials",
    "**/.aws/credentials",
    // Private keys.
    ".ssh/",
    ".gnupg/",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
];

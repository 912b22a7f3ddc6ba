//! A client that speaks TLS, and says which certificate it was shown.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Sends a request to this machine, trusting only these certificates, each PEM. Yields the answer and the certificate that was
/// shown; `None` if it is none of these.
#[must_use]
pub fn ask(address: SocketAddr, trusted: &[&str], request: &str) -> Option<(String, Vec<u8>)> {
    let mut roots = RootCertStore::empty();
    for pem in trusted {
        roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    // The server may close without saying so.
    let _ = stream.read_to_end(&mut answer);
    let shown = stream.conn.peer_certificates()?.first()?.to_vec();
    Some((String::from_utf8_lossy(&answer).into_owned(), shown))
}

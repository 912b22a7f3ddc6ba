//! TLS for a server without a proxy. The certificate may change while it runs: new connections get the new one.

use std::io;
use std::sync::Arc;

use emend_threads::Mutex;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::listening::{Establishing, Listen, without_delay};

/// The certificate that is shown now.
#[derive(Clone, Debug)]
pub struct Certificate(Arc<Mutex<Arc<CertifiedKey>>>);

/// A certificate and its key that were read and belong together.
#[derive(Debug)]
pub struct ReadCertificate(Arc<CertifiedKey>);

impl ReadCertificate {
    /// Reads a certificate, those above it and its key from PEM. The error says what is wrong, and never what stands there.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, String> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.map_err(|_| "the certificate is no PEM".to_owned())?;
        if chain.is_empty() {
            return Err("there is no certificate in it".into());
        }
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| "the key is no PEM of a private key".to_owned())?;
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider());
        key.map(|key| Self(Arc::new(key))).map_err(|error| format!("they cannot be used: {error}"))
    }
}

impl Certificate {
    /// Shows this certificate.
    #[must_use]
    pub fn new(read: ReadCertificate) -> Self {
        Self(Arc::new(Mutex::new(read.0)))
    }

    /// Shows this certificate to new connections from now on.
    pub fn replace(&self, read: ReadCertificate) {
        *self.0.lock() = read.0;
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.lock()))
    }
}

/// A port at which TLS is spoken.
pub struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl TlsListener {
    /// Speaks TLS 1.2 or 1.3 at this port, under this certificate.
    pub fn new(listener: TcpListener, certificate: Certificate) -> io::Result<Self> {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(certificate));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { listener, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

impl Listen for TlsListener {
    type Stream = TlsStream<TcpStream>;

    async fn accept(&self) -> io::Result<Establishing<Self::Stream>> {
        let (stream, _) = self.listener.accept().await?;
        without_delay(&stream);
        let acceptor = self.acceptor.clone();
        Ok(Box::pin(async move { acceptor.accept(stream).await }))
    }
}

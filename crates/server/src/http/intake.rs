//! The intake of request bodies, whose bytes are counted for each token and for all together until they are answered.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes of each body that do not count, so that an ordinary call is taken whatever others send.
const UNCOUNTED_BYTES: usize = 64 * 1024;

/// The most bytes that are read of a body that is refused by its head.
const DISCARDED_BYTES: usize = 1024 * 1024;

/// The limit of the bytes of unanswered bodies.
#[derive(Clone)]
pub(super) struct Intake(Arc<Semaphore>);

/// A body, which counts until `counted` is dropped.
pub(super) struct TakenBody {
    pub(super) bytes: Bytes,
    pub(super) counted: Counted,
}

/// The counted bytes of a body.
#[derive(Default)]
pub(super) struct Counted(Vec<OwnedSemaphorePermit>);

/// The reason why a body is not taken.
pub(super) enum Refusal {
    TooLarge,
    /// The limit is used up by other bodies.
    TooMuch,
    Broken(hyper::Error),
}

impl Intake {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes)))
    }
}

impl Counted {
    /// Counts more bytes, if both intakes have room for them.
    fn add(&mut self, bytes: usize, intakes: [&Intake; 2]) -> bool {
        let Ok(bytes) = u32::try_from(bytes) else { return false };
        for (at, intake) in intakes.into_iter().enumerate() {
            let Ok(permit) = Arc::clone(&intake.0).try_acquire_many_owned(bytes) else { return false };
            match self.0.get_mut(at) {
                Some(counted) => counted.merge(permit),
                None => self.0.push(permit),
            }
        }
        true
    }
}

/// Takes a body of at most `most` bytes, if both intakes have room for it. A refused body is read to its end and
/// dropped, unless it is more than twice as large: many clients read no response before they have sent all.
pub(super) async fn take(
    mut body: Incoming,
    most: usize,
    intakes: [&Intake; 2],
) -> Result<TakenBody, Refusal> {
    let (mut bytes, mut counted, mut length) = (Vec::new(), Counted::default(), 0);
    let mut refusal = None;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Refusal::Broken)?.into_data() else { continue };
        let before = length;
        length += data.len();
        let more = length.saturating_sub(UNCOUNTED_BYTES) - before.saturating_sub(UNCOUNTED_BYTES);
        if length > most {
            refusal = Some(Refusal::TooLarge);
        } else if refusal.is_none() && more > 0 && !counted.add(more, intakes) {
            refusal = Some(Refusal::TooMuch);
        }
        if refusal.is_none() {
            bytes.extend_from_slice(&data);
        } else if length / 2 > most {
            break;
        } else {
            (bytes, counted) = (Vec::new(), Counted::default());
        }
    }
    refusal.map_or_else(|| Ok(TakenBody { bytes: bytes.into(), counted }), Err)
}

/// Reads and drops the rest of a refused body, up to a limit, since its sender may have shown no token.
pub(super) async fn discard(body: &mut Incoming) {
    let mut length = 0;
    while length < DISCARDED_BYTES
        && let Some(Ok(frame)) = body.frame().await
    {
        length += frame.data_ref().map_or(0, Bytes::len);
    }
}

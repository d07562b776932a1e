//! What a hostile peer sends, as steps, and the DNS messages it sends wrong.

use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// One step of a peer.
#[derive(Clone)]
pub enum Step {
    Send(Vec<u8>),
    /// Byte by byte, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// The same again and again, for ever.
    Repeat(Vec<u8>),
    Wait(Duration),
    /// End the sending direction in an orderly way.
    Finish,
    /// Keep still, and the connection open.
    Hold,
}

/// Go through the steps; returns when the connection is to be dropped.
pub async fn play<S: AsyncWrite + Unpin>(stream: &mut S, steps: &[Step]) -> std::io::Result<()> {
    for step in steps {
        match step {
            Step::Send(bytes) => stream.write_all(bytes).await?,
            Step::Drip(bytes, pause) => {
                for byte in bytes {
                    stream.write_all(&[*byte]).await?;
                    stream.flush().await?;
                    tokio::time::sleep(*pause).await;
                }
            }
            Step::Repeat(bytes) => loop {
                stream.write_all(bytes).await?;
                stream.flush().await?;
                tokio::task::yield_now().await;
            },
            Step::Wait(time) => tokio::time::sleep(*time).await,
            Step::Finish => stream.shutdown().await?,
            Step::Hold => std::future::pending().await,
        }
        stream.flush().await?;
    }
    Ok(())
}

/// The right answer to a query.
pub fn good(query: &[u8]) -> Vec<u8> {
    crate::support::answer(query, false).unwrap()
}

/// Ways to get a response wrong: name, and what is made of the right answer.
pub type Spoil = (&'static str, fn(Vec<u8>) -> Vec<u8>);

/// Responses that are no DNS message, or one to something else; the id is right.
pub const SPOILT: [Spoil; 12] = [
    ("nothing but the id", |answer| answer[..2].to_vec()),
    ("half a header", |answer| answer[..7].to_vec()),
    ("a header only", |answer| answer[..12].to_vec()),
    ("cut in the question", |answer| answer[..16].to_vec()),
    ("cut in the answer", |answer| {
        answer[..answer.len() - 15].to_vec()
    }),
    ("cut by a byte", |answer| {
        answer[..answer.len() - 1].to_vec()
    }),
    ("a query (QR is 0)", |mut answer| {
        answer[2] &= 0x7f;
        answer
    }),
    ("another question", |mut answer| {
        answer[13] ^= 1;
        answer
    }),
    ("a name that points at itself", |answer| {
        with_answer_name(answer, |at| at)
    }),
    ("a name that points forward", |answer| {
        with_answer_name(answer, |at| at + 4)
    }),
    ("two names that point at each other", |mut answer| {
        answer = with_answer_name(answer, |at| at + 12);
        let at = answer.len() - 4;
        // The address is the second name.
        answer[at..at + 2].copy_from_slice(&[0xc0, (at - 12) as u8]);
        answer
    }),
    ("more records than there are bytes", |mut answer| {
        answer[6..8].copy_from_slice(&[0xff, 0xff]);
        answer
    }),
];

/// The answer record's name replaced by a pointer; it is the last record but OPT, which is removed.
fn with_answer_name(answer: Vec<u8>, target: impl Fn(usize) -> usize) -> Vec<u8> {
    let mut spoilt = without_additional(answer);
    let at = 12 + 8 + 4;
    let pointer = 0xc000 | target(at) as u16;
    spoilt.splice(at.., pointer.to_be_bytes());
    spoilt.extend([0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
    spoilt
}

fn without_additional(mut answer: Vec<u8>) -> Vec<u8> {
    answer[10..12].fill(0);
    answer
}

/// Behind its length.
pub fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

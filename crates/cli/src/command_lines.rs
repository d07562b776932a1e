//! Commands as lines of standard input, whose end ends the program. Not for: what they say.

use crate::output;
use std::io::{self, BufRead};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// An end that comes sooner was there from the start.
const AT_ONCE: Duration = Duration::from_millis(50);

/// How long to stay.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Stay {
    /// Go on when standard input ends, until SIGINT or SIGTERM: for services and scripts, whose
    /// standard input is closed from the start.
    #[arg(long)]
    serve: bool,
}

impl Stay {
    /// The lines, until there are no more or for ever. A thread of its own, because reading blocks.
    pub fn lines(self) -> mpsc::UnboundedReceiver<String> {
        let (sender, receiver) = mpsc::unbounded_channel();
        thread::spawn(move || {
            let began = Instant::now();
            for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
                // A line that is no text is no command either, and its sender is told.
                let line = String::from_utf8_lossy(&line);
                if !line.trim().is_empty() && sender.send(line.into_owned()).is_err() {
                    return;
                }
            }
            self.end(began);
        });
        receiver
    }

    /// Return when reading has ended and the program is to end with it, with a word if that is soon.
    pub fn end(self, began: Instant) {
        if self.serve {
            loop {
                thread::park();
            }
        }
        if began.elapsed() < AT_ONCE {
            output::note("standard input is closed, so this ends at once; --serve goes on without");
        }
    }
}

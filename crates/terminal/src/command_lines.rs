//! Commands as lines of standard input; the end of input ends the program. Not for: the meaning of
//! commands.

use crate::output;
use std::io::{self, BufRead};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The limit for an input closed from the start: an earlier end was there at once.
const AT_ONCE: Duration = Duration::from_millis(50);

/// The option to stay after the end of standard input.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct StayArgument {
    /// Continue after the end of standard input, until SIGINT or SIGTERM: for services and scripts
    /// with standard input closed from the start.
    #[arg(long)]
    serve: bool,
}

impl StayArgument {
    /// Returns the lines, until the end of input or for ever. A separate thread reads, because
    /// reading blocks.
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

    /// Returns after reading has ended, if the program must end too. Prints a note after an early
    /// end.
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

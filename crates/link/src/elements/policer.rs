//! A policer: tokens come in at a rate and gather up to a burst; a packet that finds as many as it
//! has bytes takes them and passes at once, any other is dropped and takes none. Nobody waits, so
//! there is no queue. It is what an ingress `police` action does (Linux `act_police`; its burst is our
//! `burst_bytes`). Exact: fractions of a token are kept. Not for: shaping, which is a rate with a queue.

use resolab_record::PolicerSettings;

/// What one token, the right of one byte to pass, is in units of 1 ns at a thousandth of a bit per
/// second.
const UNITS_PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// A policer, or none.
#[derive(Debug, Clone, Default)]
pub struct Policer {
    bucket: Option<TokenBucket>,
}

impl Policer {
    /// Polices by `settings`, with all tokens there.
    pub fn new(settings: Option<PolicerSettings>) -> Self {
        Self {
            bucket: settings.map(TokenBucket::full),
        }
    }

    /// Go on by other settings at the next packet. The tokens there stay, as far as the burst holds
    /// them, unless it starts anew.
    pub fn change(&mut self, settings: Option<PolicerSettings>, anew: bool) {
        let kept = self.bucket.take().filter(|_| !anew);
        self.bucket = settings.map(|settings| match kept {
            Some(bucket) => bucket.with(settings),
            None => TokenBucket::full(settings),
        });
    }

    /// Whether a packet of `bytes` passes that comes at `now_ns`; arrivals come in time order.
    pub fn passes(&mut self, now_ns: u64, bytes: u32) -> bool {
        self.bucket
            .as_mut()
            .is_none_or(|bucket| bucket.take(now_ns, bytes))
    }
}

#[derive(Debug, Clone)]
struct TokenBucket {
    /// Thousandths of a bit per second: units a nanosecond brings.
    rate_millibits: u128,
    burst: u128,
    tokens: u128,
    /// When `tokens` were there.
    counted_ns: u64,
}

impl TokenBucket {
    fn full(settings: PolicerSettings) -> Self {
        let burst = u128::from(settings.burst_bytes) * UNITS_PER_BYTE;
        Self {
            rate_millibits: ((settings.rate_bps * 1_000.0).round() as u128).max(1),
            burst,
            tokens: burst,
            counted_ns: 0,
        }
    }

    fn with(self, settings: PolicerSettings) -> Self {
        let next = Self::full(settings);
        Self {
            tokens: self.tokens.min(next.burst),
            counted_ns: self.counted_ns,
            ..next
        }
    }

    fn take(&mut self, now_ns: u64, bytes: u32) -> bool {
        let since_ns = u128::from(now_ns.saturating_sub(self.counted_ns));
        self.tokens = self.burst.min(self.tokens + since_ns * self.rate_millibits);
        self.counted_ns = self.counted_ns.max(now_ns);
        let left = self.tokens.checked_sub(u128::from(bytes) * UNITS_PER_BYTE);
        self.tokens = left.unwrap_or(self.tokens);
        left.is_some()
    }
}

#[cfg(test)]
mod tests;

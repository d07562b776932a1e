//! A policer: tokens come in at a rate and gather up to a burst. A packet finding enough tokens for
//! its bytes takes the tokens and passes at once. Any other packet is dropped and takes no tokens.
//! No packet waits: there is no queue. An ingress `police` action does the same (Linux
//! `act_police`; the burst there is our `burst_bytes`). Exact: fractions of a token are kept.
//! Not for: shaping, which is a rate with a queue.

use resolab_record::PolicerSettings;

/// Value of a token (the right of one byte to pass) in units of 1 ns at a thousandth of a bit per
/// second.
const UNITS_PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// A policer, possibly switched off.
#[derive(Debug, Clone, Default)]
pub struct Policer {
    bucket: Option<TokenBucket>,
}

impl Policer {
    /// Polices by `settings`, starting with a full burst of tokens.
    pub fn new(settings: Option<PolicerSettings>) -> Self {
        Self {
            bucket: settings.map(TokenBucket::full),
        }
    }

    /// Changes to other settings at the next packet. The present tokens stay, up to the new burst,
    /// unless `anew` is set.
    pub fn change(&mut self, settings: Option<PolicerSettings>, anew: bool) {
        let kept = self.bucket.take().filter(|_| !anew);
        self.bucket = settings.map(|settings| match kept {
            Some(bucket) => bucket.change_settings(settings),
            None => TokenBucket::full(settings),
        });
    }

    /// Returns true when a packet of `bytes` arriving at `now_ns` passes; arrivals come in time
    /// order.
    pub fn passes(&mut self, now_ns: u64, bytes: u32) -> bool {
        self.bucket
            .as_mut()
            .is_none_or(|bucket| bucket.take(now_ns, bytes))
    }
}

#[derive(Debug, Clone)]
struct TokenBucket {
    /// Rate in thousandths of a bit per second: token units per nanosecond.
    rate_millibits: u128,
    burst: u128,
    tokens: u128,
    /// Time of counting `tokens`, in ns.
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

    fn change_settings(self, settings: PolicerSettings) -> Self {
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

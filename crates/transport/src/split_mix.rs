//! Numbers drawn from a seed, the same on every machine. Not for: the use of the numbers.

/// The generator SplitMix64 of Steele, Lea and Flood (OOPSLA 2014): small, seeded by any number.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a number, uniform over 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number from 0 up to but not 1.
    pub fn draw_ratio(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws from the standard normal distribution (Box and Muller 1958).
    pub fn draw_normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.draw_ratio()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.draw_ratio()).cos()
    }

    /// Draws a number exponentially distributed with mean 1: the distance of independent events.
    pub fn draw_exponential(&mut self) -> f64 {
        // In (0, 1]: never 0, whose logarithm is not finite.
        let open_unit = ((self.draw() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        -open_unit.ln()
    }
}

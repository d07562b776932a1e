//! A frame behind the virtio header of a TUN device, cut into packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_link::fuzzing::cut_train;

fuzz_target!(|input: &[u8]| {
    if let Some((header, frame)) = input.split_first_chunk() {
        let _ = cut_train(*header, frame);
    }
});

//! Resolver addresses as URLs and DNS stamps, as text or as the bytes inside a stamp.
#![no_main]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use libfuzzer_sys::fuzz_target;
use resolab_dns::ResolverAddress;

fuzz_target!(|input: &[u8]| {
    let stamp = format!("sdns://{}", URL_SAFE_NO_PAD.encode(input));
    for text in [String::from_utf8_lossy(input).as_ref(), &stamp] {
        match text.parse::<ResolverAddress>() {
            Ok(address) => {
                assert!(!address.host.is_empty(), "{text:?}: {address:?}");
                assert_ne!(address.port, 0, "{text:?}");
                let _ = (address.authority(), address.ip());
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{text:?}: {error}"),
        }
    }
});

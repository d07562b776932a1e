//! Retry and address tokens, with a client that is not ours.
#![allow(clippy::unwrap_used)]

use crate::support::{Client, HOST, Lab, RESOLVER};
use resolab_record::{AddressProof, EdgeCommand, RetryMode};

async fn set_retry(lab: &mut Lab, retry: RetryMode) {
    let address = Some(lab.resolver.to_string());
    lab.command(EdgeCommand::SetAddressValidation {
        id: 1,
        address,
        retry,
    })
    .await;
}

#[tokio::test]
async fn the_configuration_asks_for_retry_and_the_record_says_so() {
    let lab =
        Lab::start_edited(|text| text.replacen("addresses", "retry = \"always\"\naddresses", 1))
            .await;
    let record = Client::quic(&lab, "doq")
        .shake(&lab, lab.doq(), RESOLVER, 1)
        .await;
    assert_eq!(record.retry_sent, Some(true));
    assert_eq!(record.address_validated_by, Some(AddressProof::RetryToken));
    assert_eq!(record.quic_version.as_deref(), Some("1"));
    assert_eq!(
        (record.closed_by_client, record.close_code),
        (Some(true), Some(0))
    );
    // The web side was told nothing.
    let page = Client::quic(&lab, "h3")
        .shake(&lab, lab.web(), HOST, 2)
        .await;
    assert_eq!(page.retry_sent, Some(false));
}

#[tokio::test]
async fn tokens_of_earlier_connections_count_where_the_mode_says() {
    let mut lab = Lab::start().await;
    let client = Client::quic(&lab, "doq");
    let first = client.shake(&lab, lab.doq(), RESOLVER, 1).await;
    assert_eq!(first.address_validated_by, Some(AddressProof::Handshake));
    // With a token from NEW_TOKEN in hand:
    let with_token = client.shake(&lab, lab.doq(), RESOLVER, 2).await;
    assert_eq!(
        with_token.address_validated_by,
        Some(AddressProof::NewToken)
    );
    set_retry(&mut lab, RetryMode::WithoutToken).await;
    let honoured = client.shake(&lab, lab.doq(), RESOLVER, 3).await;
    assert_eq!(honoured.address_validated_by, Some(AddressProof::NewToken));
    let stranger = Client::quic(&lab, "doq")
        .shake(&lab, lab.doq(), RESOLVER, 4)
        .await;
    assert_eq!(
        stranger.address_validated_by,
        Some(AddressProof::RetryToken)
    );
    set_retry(&mut lab, RetryMode::Always).await;
    let every_time = client.shake(&lab, lab.doq(), RESOLVER, 5).await;
    assert_eq!(every_time.retry_sent, Some(true));
    assert_eq!(lab.summary().await.retries_count, 2);
    set_retry(&mut lab, RetryMode::Off).await;
    let off = client.shake(&lab, lab.doq(), RESOLVER, 6).await;
    assert_eq!(off.retry_sent, Some(false));
    assert_eq!(lab.summary().await.retries_count, 2);
}

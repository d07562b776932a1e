//! The calls of a QUIC crypto session forwarded to the inner session, for the wrappers of both ends
//! (`client::observed_session`, `server::quic_session`).

/// Defines the forwarded methods of [`quinn::crypto::Session`], in an `impl` of a type with a field
/// `inner`.
macro_rules! forward_to_inner_session {
    () => {
        fn initial_keys(
            &self,
            connection_id: &quinn::ConnectionId,
            side: quinn::Side,
        ) -> quinn::crypto::Keys {
            self.inner.initial_keys(connection_id, side)
        }

        fn handshake_data(&self) -> Option<Box<dyn std::any::Any>> {
            self.inner.handshake_data()
        }

        fn peer_identity(&self) -> Option<Box<dyn std::any::Any>> {
            self.inner.peer_identity()
        }

        fn early_data_accepted(&self) -> Option<bool> {
            self.inner.early_data_accepted()
        }

        fn is_handshaking(&self) -> bool {
            self.inner.is_handshaking()
        }

        fn transport_parameters(
            &self,
        ) -> Result<
            Option<quinn_proto::transport_parameters::TransportParameters>,
            quinn_proto::TransportError,
        > {
            self.inner.transport_parameters()
        }

        fn next_1rtt_keys(
            &mut self,
        ) -> Option<quinn::crypto::KeyPair<Box<dyn quinn::crypto::PacketKey>>> {
            self.inner.next_1rtt_keys()
        }

        fn export_keying_material(
            &self,
            output: &mut [u8],
            label: &[u8],
            context: &[u8],
        ) -> Result<(), quinn::crypto::ExportKeyingMaterialError> {
            self.inner.export_keying_material(output, label, context)
        }
    };
}

pub(crate) use forward_to_inner_session;

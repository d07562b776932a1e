//! Header blocks of DoH requests (RFC 7541). The first request puts the constant fields into the
//! peer's table. From then on, each constant field takes one octet. The path of a GET carries the
//! query; the path stays out of the table, because new paths would evict the constant fields. Not
//! for: any other request.

/// The media type of a DNS message, as bytes for header blocks.
pub const DNS_MESSAGE: &[u8] = resolab_dns::iana::DNS_MESSAGE.as_bytes();
/// The default size of the peer's table (RFC 9113 section 6.5.2).
const DEFAULT_TABLE_BYTES: u32 = 4_096;
/// The overhead of a table entry beside name and value (RFC 7541 section 4.1).
const ENTRY_BYTES: usize = 32;
/// The number of entries in the static table; the youngest dynamic entry comes next.
const STATIC_COUNT: u8 = 61;
const METHOD_GET: u8 = 0x80 | 2;
const METHOD_POST: u8 = 0x80 | 3;
const SCHEME_HTTPS: u8 = 0x80 | 7;
const AUTHORITY: (u8, usize) = (1, ":authority".len());
const PATH: (u8, usize) = (4, ":path".len());
const ACCEPT: (u8, usize) = (19, "accept".len());
const CONTENT_TYPE: (u8, usize) = (31, "content-type".len());
/// A literal without indexing, with name 28 of the static table: content-length.
const CONTENT_LENGTH: [u8; 2] = [0x0f, 28 - 15];

/// The encoding of the fixed fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldEncoding {
    /// The fields are written in full; the peer stores the fields.
    Inserting,
    /// The fields are written by their numbers in the peer's table.
    Indexed,
    /// The fields are written in full every time: the peer has no room.
    Literal,
}

/// The fixed parts of a block, before and after the changing part.
#[derive(Debug, Clone, Default)]
struct BlockParts {
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The writer of header blocks for a connection.
#[derive(Debug, Clone)]
pub struct RequestBlock {
    inserting: BlockParts,
    indexed: BlockParts,
    literal: BlockParts,
    form: FieldEncoding,
    /// The size of the fixed fields in the peer's table.
    table_bytes: u32,
    /// The used size of the table.
    limit_bytes: u32,
    /// The new table size for the start of the next block (RFC 7541 section 4.2).
    size_update: Option<u32>,
}

impl RequestBlock {
    /// Creates the writer of GET requests.
    pub fn get(authority: &str) -> Self {
        let fields = [(AUTHORITY, authority.as_bytes())];
        Self::new(METHOD_GET, &fields, &[(ACCEPT, DNS_MESSAGE)])
    }

    /// Creates the writer of POST requests to this path.
    pub fn post(authority: &str, path: &str) -> Self {
        let fields = [
            (AUTHORITY, authority.as_bytes()),
            (PATH, path.as_bytes()),
            (ACCEPT, DNS_MESSAGE),
            (CONTENT_TYPE, DNS_MESSAGE),
        ];
        Self::new(METHOD_POST, &fields, &[])
    }

    fn new(method: u8, before: &[((u8, usize), &[u8])], after: &[((u8, usize), &[u8])]) -> Self {
        let fields = before.iter().chain(after);
        let bytes = fields.map(|((_, name), value)| name + value.len() + ENTRY_BYTES);
        let count = (before.len() + after.len()) as u8;
        let parts = |form| BlockParts {
            before: [&[method, SCHEME_HTTPS][..], &write(form, before, count)].concat(),
            after: write(form, after, after.len() as u8),
        };
        Self {
            inserting: parts(FieldEncoding::Inserting),
            indexed: parts(FieldEncoding::Indexed),
            literal: parts(FieldEncoding::Literal),
            form: FieldEncoding::Inserting,
            table_bytes: bytes.sum::<usize>() as u32,
            limit_bytes: DEFAULT_TABLE_BYTES,
            size_update: None,
        }
    }

    /// Sets the size of the peer's table (SETTINGS_HEADER_TABLE_SIZE). A larger table is not used.
    pub fn set_table_bytes(&mut self, bytes: u32) {
        if bytes >= self.limit_bytes {
            return;
        }
        let fits = bytes >= self.table_bytes;
        self.limit_bytes = if fits { bytes } else { 0 };
        self.size_update = Some(self.limit_bytes);
        if !fits {
            self.form = FieldEncoding::Literal;
        }
    }

    /// Writes the block of a GET for a path; the path is a string literal.
    pub fn write_get(&mut self, path: &[u8], out: &mut Vec<u8>) {
        self.write(out, |out| {
            out.push(PATH.0);
            out.extend_from_slice(path);
        });
    }

    /// Writes the block of a POST with content of length `body_bytes`.
    pub fn write_post(&mut self, body_bytes: usize, out: &mut Vec<u8>) {
        self.write(out, |out| {
            out.extend_from_slice(&CONTENT_LENGTH);
            write_string(body_bytes.to_string().as_bytes(), out);
        });
    }

    fn write(&mut self, out: &mut Vec<u8>, changing: impl FnOnce(&mut Vec<u8>)) {
        if let Some(bytes) = self.size_update.take() {
            write_integer(0x20, 5, bytes as usize, out);
        }
        let parts = match self.form {
            FieldEncoding::Inserting => &self.inserting,
            FieldEncoding::Indexed => &self.indexed,
            FieldEncoding::Literal => &self.literal,
        };
        out.extend_from_slice(&parts.before);
        changing(out);
        out.extend_from_slice(&parts.after);
        if self.form == FieldEncoding::Inserting {
            self.form = FieldEncoding::Indexed;
        }
    }
}

/// Returns the encoded fields. The first field is the peer's `age`-th youngest after all
/// insertions.
fn write(form: FieldEncoding, fields: &[((u8, usize), &[u8])], age: u8) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, ((name, _), value)) in (0u8..).zip(fields) {
        match form {
            FieldEncoding::Inserting => write_integer(0x40, 6, usize::from(*name), &mut out),
            FieldEncoding::Indexed => out.push(0x80 | (STATIC_COUNT + age - number)),
            FieldEncoding::Literal => write_integer(0, 4, usize::from(*name), &mut out),
        }
        if form != FieldEncoding::Indexed {
            write_string(value, &mut out);
        }
    }
    out
}

/// Writes a string literal without Huffman coding (RFC 7541 section 5.2).
pub fn write_string(text: &[u8], out: &mut Vec<u8>) {
    write_integer(0, 7, text.len(), out);
    out.extend_from_slice(text);
}

/// Writes an integer behind the bits of `first` (RFC 7541 section 5.1).
fn write_integer(first: u8, prefix_bits: u8, value: usize, out: &mut Vec<u8>) {
    let most = (1 << prefix_bits) - 1;
    if value < most {
        out.push(first | value as u8);
        return;
    }
    out.push(first | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(0x80 | rest as u8);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use loona_hpack::Decoder;

    fn text(decoder: &mut Decoder<'_>, block: &[u8]) -> Vec<String> {
        let fields = decoder.decode(block).unwrap();
        let field = |(name, value): (Vec<u8>, Vec<u8>)| {
            format!(
                "{}: {}",
                String::from_utf8(name).unwrap(),
                String::from_utf8(value).unwrap()
            )
        };
        fields.into_iter().map(field).collect()
    }

    fn get(block: &mut RequestBlock, path: &str) -> Vec<u8> {
        let (mut literal, mut out) = (Vec::new(), Vec::new());
        write_string(path.as_bytes(), &mut literal);
        block.write_get(&literal, &mut out);
        out
    }

    fn get_fields(path: &str) -> [String; 5] {
        [
            ":method: GET".into(),
            ":scheme: https".into(),
            ":authority: dns.example:8443".into(),
            format!(":path: {path}"),
            "accept: application/dns-message".into(),
        ]
    }

    #[test]
    fn a_get_is_short_from_the_second_on() {
        let mut block = RequestBlock::get("dns.example:8443");
        let mut decoder = Decoder::new();
        let long = format!("/dns-query?dns={}", "x".repeat(300));
        for path in ["/a", &long, "/c"] {
            let bytes = get(&mut block, path);
            assert_eq!(text(&mut decoder, &bytes), get_fields(path));
        }
        assert_eq!(get(&mut block, "/d").len(), 4 + 4);
    }

    #[test]
    fn a_post_says_its_length() {
        let mut block = RequestBlock::post("[::1]:8443", "/q");
        let mut decoder = Decoder::new();
        for length in [34, 128] {
            let mut out = Vec::new();
            block.write_post(length, &mut out);
            let fields = text(&mut decoder, &out);
            let expected = [
                ":method: POST".to_owned(),
                ":scheme: https".into(),
                ":authority: [::1]:8443".into(),
                ":path: /q".into(),
                "accept: application/dns-message".into(),
                "content-type: application/dns-message".into(),
                format!("content-length: {length}"),
            ];
            assert_eq!(fields, expected);
        }
    }

    #[test]
    fn a_peer_without_a_table_gets_everything_each_time() {
        for at in 0..3 {
            let mut block = RequestBlock::get("dns.example:8443");
            let mut decoder = Decoder::new();
            for number in 0..4 {
                if number == at {
                    block.set_table_bytes(0);
                    block.set_table_bytes(4096);
                    decoder.set_max_allowed_table_size(4096);
                }
                let bytes = get(&mut block, "/a");
                assert_eq!(bytes[0] == 0x20, number == at);
                assert_eq!(text(&mut decoder, &bytes), get_fields("/a"));
            }
            assert!(get(&mut block, "/a").len() > 30);
        }
    }

    #[test]
    fn a_small_table_that_suffices_is_used() {
        let mut block = RequestBlock::get("dns.example:8443");
        let mut decoder = Decoder::new();
        text(&mut decoder, &get(&mut block, "/a"));
        block.set_table_bytes(200);
        let bytes = get(&mut block, "/b");
        assert_eq!(bytes[..3], [0x3f, 0x80 | (200 - 31 - 128), 1]);
        assert_eq!(text(&mut decoder, &bytes), get_fields("/b"));
        assert_eq!(get(&mut block, "/b").len(), 8);
    }
}

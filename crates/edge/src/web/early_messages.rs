//! Messages ahead of a response: interim hints, and pushed answers of the resolver.
//!
//! For: `early_hints` and `pushed_questions` of `[[site.response]]`, ready to be sent.
//! Not for: streams, see `serve::early_messages`.

use super::settings::ResponseConfig;
use http::HeaderValue;
use resolab_dns::Question;
use resolab_dns::question::QuestionError;

/// The messages ahead of one path's responses.
#[derive(Debug)]
pub struct EarlyMessages {
    /// The `link` fields of a 103 (RFC 8297); without fields there is no 103.
    pub hints: Vec<HeaderValue>,
    /// The questions with pushed answers (RFC 9113 section 8.4).
    pub questions: Vec<Question>,
}

impl EarlyMessages {
    /// Makes the messages of a response's configuration; `None` when nothing is sent ahead.
    pub fn from_config(config: &ResponseConfig) -> Result<Option<Self>, String> {
        let hint = |text: &String| {
            HeaderValue::from_str(text).map_err(|_| format!("`{text}` is no value of a field"))
        };
        let questions = config.pushed_questions.iter().map(|text| question(text));
        let early_messages = Self {
            hints: config
                .early_hints
                .iter()
                .map(hint)
                .collect::<Result<_, _>>()?,
            questions: questions.collect::<Result<_, _>>()?,
        };
        let is_empty = early_messages.hints.is_empty() && early_messages.questions.is_empty();
        Ok((!is_empty).then_some(early_messages))
    }
}

/// Reads a question `NAME TYPE`, with the notation of a zone file.
fn question(text: &str) -> Result<Question, String> {
    let mut words = text.split_ascii_whitespace();
    let (Some(name), Some(record_type), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("`{text}` is no question: give `NAME TYPE`"));
    };
    Question::parse(name, record_type).map_err(|error: QuestionError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn early_messages(more: &str) -> Result<Option<EarlyMessages>, String> {
        EarlyMessages::from_config(&toml::from_str(&format!("path = '/'\n{more}")).unwrap())
    }

    #[test]
    fn hints_and_questions_are_read() {
        assert!(early_messages("").unwrap().is_none());
        let text = "early_hints = ['<https://a.test>; rel=dns-prefetch']\npushed_questions = ['a.test A', 'a.test HTTPS']";
        let read = early_messages(text).unwrap().unwrap();
        assert_eq!(read.hints, ["<https://a.test>; rel=dns-prefetch"]);
        let names: Vec<_> = read.questions.iter().map(Question::name_text).collect();
        assert_eq!(names, ["a.test.", "a.test."]);
        assert_ne!(read.questions[0].record_type, read.questions[1].record_type);
    }

    #[test]
    fn what_is_no_question_is_named() {
        for (more, part) in [
            ("pushed_questions = ['a.test']", "give `NAME TYPE`"),
            ("pushed_questions = ['a.test A A']", "give `NAME TYPE`"),
            ("pushed_questions = ['a.test B']", "record type"),
            ("pushed_questions = ['a..test A']", "domain name"),
            ("early_hints = [\"a\\nb\"]", "no value of a field"),
        ] {
            let error = early_messages(more).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}

//! Runs `ip`, `tc` and `ethtool` in this thread's network namespace. Not for: the content of
//! commands.

use super::NetemError;
use std::fmt;
use std::process::{Command, Stdio};

/// A command line for `ip`, `tc` or `ethtool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCommand {
    /// Name of the program.
    pub tool: &'static str,
    /// Arguments of the program.
    pub arguments: Vec<String>,
}

impl ToolCommand {
    /// Makes a command from words separated by spaces.
    pub fn new(tool: &'static str, arguments: &str) -> Self {
        Self {
            tool,
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// Runs the command; returns the printed output.
    pub fn run(&self) -> Result<String, NetemError> {
        let output = Command::new(self.tool)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| NetemError::NoTool {
                tool: self.tool,
                error,
                package: package(self.tool),
            })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(NetemError::Refused {
            command: self.to_string(),
            said: one_line(&output.stderr),
        })
    }
}

impl fmt::Display for ToolCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.tool, self.arguments.join(" "))
    }
}

/// Runs all commands, up to the first failure.
pub fn run_all<'a>(commands: impl IntoIterator<Item = &'a ToolCommand>) -> Result<(), NetemError> {
    commands
        .into_iter()
        .try_for_each(|command| command.run().map(drop))
}

fn package(tool: &str) -> &'static str {
    if tool == "ethtool" {
        "ethtool"
    } else {
        "iproute2"
    }
}

fn one_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let joined = lines.join(" ").trim().to_owned();
    if joined.is_empty() {
        "it failed without a word".to_owned()
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_missing_is_named_with_its_package() {
        let error = ToolCommand::new("resolab-no-such-tool", "x")
            .run()
            .unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("run resolab-no-such-tool") && message.contains("package iproute2"),
            "{message}"
        );
    }

    #[test]
    fn a_refusal_carries_the_tools_own_words() {
        let error = ToolCommand::new("ls", "/nonexistent-for-sure")
            .run()
            .unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("'ls /nonexistent-for-sure'") && message.contains("No such file"),
            "{message}"
        );
        assert!(!message.contains('\n'));
    }
}

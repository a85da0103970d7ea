//! Parts of the atlas's pages.

use crate::{
    cause_text, margin,
    scalar_types::{describe, parse_types, permitted_texts, result_type, value},
};
use assay_events::{Cause, Example, Status};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Script that makes the copy buttons work; other pages need no script.
const COPY: &str = include_str!("copy.js");

/// Returns a page. `root` leads to the folder of the site: empty, or `../`.
pub(super) fn page(title: &str, root: &str, body: &Markup) -> Markup {
    const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'self' 'unsafe-inline' file:; \
                          img-src data:; base-uri 'none'; form-action 'none'";
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content="assay";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { (title) }
                link rel="stylesheet" href={ (root) "style.css" };
            }
            body {
                (body)
                script { (PreEscaped(COPY)) }
            }
        }
    }
}

/// Returns a status as a coloured word with a sign, so that it can be told without colours.
pub(super) fn badge(status: Status) -> Markup {
    html! { span class="badge" style=(colour(status)) { (sign(status)) " " (name(status)) } }
}

/// Returns the style that sets the colour of a status.
pub(super) fn colour(status: Status) -> String {
    format!("--c:var(--{})", name(status))
}

/// Returns the name of a status.
pub(super) fn name(status: Status) -> String {
    format!("{status:?}")
}

/// Returns the sign of a status.
pub(super) fn sign(status: Status) -> &'static str {
    match status {
        Status::Pass => "✓",
        Status::QualityWarning => "!",
        Status::Fail => "✗",
        Status::NotSupported => "–",
        Status::Crash => "C",
        Status::Timeout => "T",
        Status::DeviceLost => "L",
        Status::InternalError => "E",
        Status::Undetermined => "?",
    }
}

/// Returns a command with a button that copies it.
pub(super) fn command(text: &str) -> Markup {
    html! {
        div class="command" {
            code { (text) }
            button type="button" class="copy" hidden aria-label={ "Copy: " (text) } { "copy" }
        }
    }
}

/// Returns an example as a table with one row: operands, result, permitted results, margin.
pub(super) fn example(example: &Example, types: &str) -> Markup {
    let (results, operands) = parse_types(types);
    let component = results.len() > 1 && example.scalar.is_none();
    html! {
        table class="examples" {
            thead { tr { th { "operands" } th { "got" } th { "permitted" } @if example.margin.is_some() { th { "margin" } } } }
            tbody {
                tr {
                    td class="mono" data-head="operands" { (describe(&example.operands, &operands)) }
                    td class="mono" data-head="got" {
                        @if component { "component " (example.slot) ": " }
                        (value(result_type(example, types), &example.got))
                    }
                    td class="mono" data-head="permitted" {
                        @for (at, text) in permitted_texts(example, types).iter().enumerate() {
                            @if at > 0 { br; "or " }
                            (text)
                        }
                        @if example.permitted.is_empty() { "nothing" }
                    }
                    @if let Some(greatest) = example.margin { td class="mono" data-head="margin" { (margin(greatest)) } }
                }
            }
        }
    }
}

/// Returns a cause of failures, with its simplest case. `page` is the address of its instruction.
pub(super) fn cause(cause: &Cause, page: Option<&str>, rerun: &str) -> Markup {
    let facts = [cause_text::extent(cause), cause_text::severity(cause)].into_iter().chain(cause_text::shared(cause));
    let representative = &cause.representative;
    html! {
        li class="cause" style=(colour(cause.status)) {
            @match page {
                Some(page) => a href=(page) { strong { (cause.title) } },
                None => strong { (cause.title) },
            }
            p class="facts" { @for fact in facts.filter(|fact| !fact.is_empty()) { span { (fact) } } }
            p class="mono" { (representative.case) }
            @if let Some(shown) = &representative.example {
                (example(shown, &representative.types))
                @if let Some(explain) = shown.explain_command() { (command(&explain)) }
            }
            (command(rerun))
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn signs_tell_every_status_apart() {
        let statuses = [
            Status::Pass,
            Status::QualityWarning,
            Status::Fail,
            Status::NotSupported,
            Status::Crash,
            Status::Timeout,
            Status::DeviceLost,
            Status::InternalError,
            Status::Undetermined,
        ];
        assert_eq!(BTreeSet::from(statuses.map(sign)).len(), statuses.len());
    }
}

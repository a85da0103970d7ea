//! Initial values of OpenGL's uniforms. Vulkan has none, and compilers drop them without a word.

/// Returns a note on the uniforms of a GLSL text that have an initial value, with options that set the
/// scalars among them; `None` if there are none.
pub(crate) fn note(text: &str) -> Option<String> {
    let initialized: Vec<(&str, &str)> = text.lines().filter_map(initialized_uniform).collect();
    if initialized.is_empty() {
        return None;
    }
    let named: Vec<String> = initialized.iter().map(|(name, value)| format!("`{name} = {value}`")).collect();
    let is_number = |value: &str| value.parse::<f64>().is_ok();
    let scalars = initialized.iter().filter(|(_, value)| is_number(value));
    let options: Vec<String> = scalars.map(|(name, value)| format!(" --input {name}={value}")).collect();
    let options = if options.is_empty() { String::new() } else { format!("; give them with{}", options.concat()) };
    Some(format!("Vulkan has no initial values of uniforms, so {} have no effect{options}", named.join(", ")))
}

/// Returns the name and the initial value of the uniform that a line declares.
fn initialized_uniform(line: &str) -> Option<(&str, &str)> {
    let line = line.split("//").next().unwrap_or(line).trim();
    let line = match line.strip_prefix("layout") {
        Some(rest) => rest.split_once(')')?.1.trim_start(),
        None => line,
    };
    let (declared, value) = line.strip_prefix("uniform ")?.strip_suffix(';')?.split_once('=')?;
    let name = declared.split_whitespace().next_back()?.split('[').next()?;
    let value = value.trim();
    let number = value.trim_end_matches(['f', 'F', 'u', 'U']);
    Some((name, if number.parse::<f64>().is_ok() { number } else { value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_values_of_uniforms_are_noted() {
        let text = "layout(location = 3) uniform float scale = 2.5f; // a scale
            uniform uint n=16u;
            uniform vec2 at = vec2(1, 2);
            uniform mat4 view;
            const float x = 1.0;";
        let expected = "Vulkan has no initial values of uniforms, so `scale = 2.5`, `n = 16`, `at = vec2(1, 2)` have \
                        no effect; give them with --input scale=2.5 --input n=16";
        assert_eq!(note(text).as_deref(), Some(expected));
        assert_eq!(note("uniform mat4 view;"), None);
    }
}

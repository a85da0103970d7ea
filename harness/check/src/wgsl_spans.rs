//! Places of expressions in naga's modules. naga makes a vector of the scalar `x` in `v / x`, gives this vector the
//! place where `x` is declared, and the division the place of the vector.

use naga::{Arena, Block, Expression, Module, Span, Statement};

/// Sets the place of each group of expressions to that of the expressions that stand in the text.
pub(crate) fn correct_places(module: &mut Module) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entry_points = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    for function in functions.chain(entry_points) {
        correct(&mut function.body, &function.expressions);
    }
}

fn correct(block: &mut Block, expressions: &Arena<Expression>) {
    for (statement, place) in block.span_iter_mut() {
        match statement {
            Statement::Emit(range) => {
                let is_written = |expression: &Expression| !matches!(expression, Expression::Splat { .. });
                let mut written = Span::default();
                for handle in range.clone().filter(|handle| is_written(&expressions[*handle])) {
                    written.subsume(expressions.get_span(handle));
                }
                if let Some(place) = place.filter(|_| written.is_defined()) {
                    *place = written;
                }
            }
            Statement::Block(body) => correct(body, expressions),
            Statement::If { accept, reject, .. } => {
                correct(accept, expressions);
                correct(reject, expressions);
            }
            Statement::Switch { cases, .. } => cases.iter_mut().for_each(|case| correct(&mut case.body, expressions)),
            Statement::Loop { body, continuing, .. } => {
                correct(body, expressions);
                correct(continuing, expressions);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ShaderSource;
    use assay_spirv::tables::Op;

    #[test]
    fn a_division_of_a_vector_has_its_own_place() {
        let text = "@group(0) @binding(0) var<storage, read_write> r: array<vec2<f32>>;
            @compute @workgroup_size(1) fn main() {
                let d = r[0];
                let dist = length(d);
                if dist > 1.0 {
                    let n = d / dist;
                    r[0] = n;
                }
            }";
        let shader = ShaderSource::read("a.wgsl", text.as_bytes()).unwrap();
        let of = |op: Op| shader.source.module.instructions().find(|i| i.op == Some(op)).unwrap().at;
        assert_eq!(
            [Op::FDiv, Op::FOrdGreaterThan].map(|op| shader.source.position_of(of(op)).line),
            [Some(6), Some(5)]
        );
    }
}

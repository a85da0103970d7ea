//! Run-time rules: operands that must be uniform, and ranges of offsets.

use crate::abstract_value::AbstractValue;
use crate::inst::{Inst, Reach, Reg, SubgroupOp};
use crate::outcome::FaultKind;
use crate::pointer::{OBJECT, counted, outside};
use crate::program::Choice;
use crate::rule_enforcement::named;
use crate::run::lanes::Lanes;
use crate::run::{Run, Stop};
use crate::subgroup_layout::SubgroupLayout;
use std::collections::BTreeMap;

impl Run<'_> {
    /// Checks the rules on an instruction that is about to be executed.
    pub(in crate::run) fn must_be_uniform(&mut self, inst: &Inst, lanes: Lanes) {
        match inst {
            Inst::Load { pointer, physical: None, .. } => {
                self.chosen_uniformly(*pointer, lanes);
                self.pushed_uniformly(*pointer, lanes);
            }
            Inst::Store { pointer, physical: None, .. } | Inst::Atomic { pointer, physical: false, .. } => {
                self.chosen_uniformly(*pointer, lanes);
            }
            Inst::ImageRead { image, .. }
            | Inst::ImageWrite { image, .. }
            | Inst::ImageQuery { image, .. }
            | Inst::TexelPointer { image, .. } => self.chosen_uniformly(*image, lanes),
            Inst::LookUp(look_up) => self.chosen_uniformly(look_up.image, lanes),
            Inst::Subgroup { op, value, n, second, .. } => {
                self.same_in_subgroup(*op, (*value, *n), *second, lanes);
                self.cluster_fits(*op, lanes);
            }
            _ => {}
        }
    }

    /// The lanes that certainly execute and whose bits of a register are known, with these bits.
    fn known(&self, reg: Reg, lanes: Lanes) -> Vec<(usize, u64)> {
        let column = &self.columns[reg as usize];
        let sure = lanes.iter().filter(|l| !self.forks.is_weak(*l) && *column.value(*l) == AbstractValue::Bits);
        sure.map(|l| (l, column.bits[l])).collect()
    }

    /// The group of lanes in which a resource must be uniform: the subgroup, or for subgroups of
    /// size 1 the workgroup. With an unknown layout any two lanes may share a subgroup.
    fn subgroup_of(&self, lane: usize) -> usize {
        match self.dispatch.subgroup_size {
            1 => 0,
            _ => self.seat(lane).map_or(0, |seat| seat.subgroup as usize),
        }
    }

    /// Checks that a descriptor of an array is the same for all invocations of a subgroup (of the
    /// workgroup, with subgroups of size 1), unless its capability is declared and the operand is
    /// decorated `NonUniform`: VUIDs 10134 to 10149.
    fn chosen_uniformly(&mut self, operand: Reg, lanes: Lanes) {
        if !self.program.objects.iter().any(|object| object.count > 1) {
            return;
        }
        let mut first: BTreeMap<(usize, u64, bool), u64> = BTreeMap::new();
        for (lane, bits) in self.known(operand, lanes) {
            // The handle of a sampled image is the number of its image, followed by that of the
            // sampler.
            let (image, sampler) = (counted(bits).0, (bits % OBJECT).checked_sub(1).filter(|_| self.is_sampled(bits)));
            for (number, second) in [(Some(image), false), (sampler, true)] {
                let Some(number) = number.filter(|_| outside(bits).is_none()) else { continue };
                let declared = self.program.objects.iter().find(|o| (o.first..o.first + o.count).contains(&number));
                let Some(object) = declared.filter(|object| object.count > 1) else { continue };
                let same = *first.entry((self.subgroup_of(lane), object.first, second)).or_insert(number);
                if same == number {
                    continue;
                }
                let (here, there, choice) = (number - object.first, same - object.first, object.choice);
                self.not_uniform(operand, choice, (here, there), lane);
                return;
            }
        }
    }

    /// Returns true for the handle of a sampled image made of two descriptors.
    fn is_sampled(&self, bits: u64) -> bool {
        let image =
            self.object_of(bits).is_some_and(|object| self.bindings.images.get(object).is_some_and(Option::is_some));
        image && !bits.is_multiple_of(OBJECT)
    }

    fn not_uniform(&mut self, operand: Reg, choice: Option<Choice>, (here, there): (u64, u64), lane: usize) {
        let Some(choice) = choice else { return };
        let alone = self.dispatch.subgroup_size == 1;
        let rule = match (choice.allowed, self.program.non_uniform.contains(&operand), alone) {
            (false, _, false) => choice.of.rule(),
            (false, _, true) => choice.of.rule_alone(),
            (true, false, false) => "10149",
            (true, false, true) => "10148",
            (true, true, _) => return,
        };
        self.fault(FaultKind::Rule, lane, || {
            format!("{}: descriptor {here} of the array here, {there} in another invocation", named(rule))
        });
    }

    /// Checks that arrays of push constants are indexed uniformly.
    fn pushed_uniformly(&mut self, pointer: Reg, lanes: Lanes) {
        if !self.program.pushed.contains(&pointer) {
            return;
        }
        let mut pushed = self.known(pointer, lanes).into_iter();
        let Some((_, first)) = pushed.next() else { return };
        if let Some((lane, other)) = pushed.find(|(_, bits)| *bits != first) {
            self.fault(FaultKind::Rule, lane, || {
                format!("{}: byte {other} here, byte {first} in another invocation", named("04745"))
            });
        }
    }

    /// Checks that operands are the same for all invocations of a subgroup or quad: the source of a
    /// broadcast, the delta of a rotation, and the value of an inverse ballot.
    fn same_in_subgroup(&mut self, op: SubgroupOp, (value, n): (Reg, u32), second: Reg, lanes: Lanes) {
        let (rule, of) = match op {
            SubgroupOp::Broadcast => ("06277", second..second + 1),
            SubgroupOp::QuadBroadcast => ("06276", second..second + 1),
            SubgroupOp::Rotate { .. } => ("OpGroupNonUniformRotateKHR: Delta", second..second + 1),
            SubgroupOp::InverseBallot => ("OpGroupNonUniformInverseBallot: Value", value..value + n),
            _ => return,
        };
        // With an unknown layout the result is undetermined anyway.
        if self.dispatch.layout == SubgroupLayout::Unknown {
            return;
        }
        let in_quads = op == SubgroupOp::QuadBroadcast;
        for reg in of {
            // Each of several tangles may execute an instance of its own.
            let mut first: BTreeMap<(usize, u32, (u32, u32)), u64> = BTreeMap::new();
            for (lane, id) in self.known(reg, lanes) {
                let tangle = if self.program.reconverges { (0, 0) } else { self.tangles.of(lane) };
                let quad = if in_quads { self.seat(lane).map_or(0, |seat| seat.place / 4) } else { 0 };
                let same = *first.entry((self.subgroup_of(lane), quad, tangle)).or_insert(id);
                if same != id {
                    let of = if in_quads { "quad" } else { "subgroup" };
                    self.fault(FaultKind::Rule, lane, || {
                        format!("{}: {id} here, {same} in another invocation of the {of}", named(rule))
                    });
                    return;
                }
            }
        }
    }

    /// Checks the cluster size. "Behavior is undefined unless ClusterSize is at least 1 and a power
    /// of 2. If ClusterSize is greater than the size of the scope, executing this instruction
    /// results in undefined behavior."
    fn cluster_fits(&mut self, op: SubgroupOp, lanes: Lanes) {
        let cluster = match op {
            SubgroupOp::Fold { reach: Reach::Cluster(size), .. } => size,
            SubgroupOp::Rotate { cluster: Some(size) } => size,
            _ => return,
        };
        let subgroup = self.dispatch.subgroup_size;
        if cluster.is_power_of_two() && cluster <= subgroup {
            return;
        }
        let lane = lanes.iter().find(|l| !self.forks.is_weak(*l)).unwrap_or(lanes.list[0] as usize);
        self.fault(FaultKind::Rule, lane, || {
            format!("{}: a cluster of {cluster} in a subgroup of {subgroup}", named("ClusterSize"))
        });
    }

    /// Executes `OpAssumeTrueKHR`: "Behavior is undefined if Condition is false". If the condition
    /// may be false, everything that follows is unknown.
    pub(in crate::run) fn assume(&mut self, condition: Reg, lanes: Lanes) -> Result<(), Stop> {
        for l in lanes.iter() {
            let cause = match self.decided(condition, l) {
                Ok(0) => {
                    self.fault(FaultKind::Rule, l, || format!("{}: it is false", named("OpAssumeTrueKHR: Condition")))
                }
                Ok(_) => continue,
                Err(cause) => cause,
            };
            return Err(self.lose_everything(cause));
        }
        Ok(())
    }

    /// Checks that an offset of a gather or another lookup is within the limits of the device. The
    /// error is the cause for the values that depend on it.
    pub(in crate::run) fn offset_within(&mut self, offset: i64, gather: bool, lane: usize) -> Result<i64, u32> {
        let (limits, least, most) = match gather {
            true => (self.dispatch.offsets.gather, "06376", "06377"),
            false => (self.dispatch.offsets.sample, "06435", "06436"),
        };
        let rule = if offset < i64::from(limits[0]) {
            least
        } else if offset > i64::from(limits[1]) {
            most
        } else {
            return Ok(offset);
        };
        let detail = || format!("{}: an offset of {offset}, of {} to {}", named(rule), limits[0], limits[1]);
        Err(self.fault(FaultKind::Rule, lane, detail))
    }
}

//! Registers of all lanes, and which lanes run.

use crate::form::Form;
use crate::value::Value;

/// One register: a scalar for every lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    pub(crate) bits: Box<[u64]>,
    /// What each lane may be beside its bits; `None` while every lane is exactly its bits.
    pub(crate) wide: Option<Box<[Value]>>,
    /// How each lane's float came about.
    pub(crate) forms: Option<Box<[Form]>>,
}

/// Lanes that run together, ascending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<'a> {
    pub(crate) list: &'a [u32],
    /// Whether they are all lanes from 0 on, and no lane beyond them is in use.
    pub(crate) all: bool,
}

impl Lanes<'_> {
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.list.iter().map(|lane| *lane as usize)
    }
}

impl Column {
    pub(crate) fn new(capacity: usize) -> Column {
        Column { bits: vec![0; capacity].into(), wide: None, forms: None }
    }

    /// Makes the first lanes as they are in the beginning.
    pub(crate) fn clear(&mut self, lanes: usize) {
        self.bits[..lanes].fill(0);
        (self.wide, self.forms) = (None, None);
    }

    /// Whether it is as in the beginning.
    pub(crate) fn is_clear(&self) -> bool {
        self.is_plain() && self.bits.iter().all(|bits| *bits == 0)
    }

    /// What a lane may be.
    #[inline]
    pub(crate) fn value(&self, lane: usize) -> &Value {
        self.wide.as_ref().map_or(&Value::Bits, |wide| &wide[lane])
    }

    /// How a lane's float came about; `None` for exact values that nothing computed.
    #[inline]
    pub(crate) fn form(&self, lane: usize) -> Option<&Form> {
        self.forms.as_ref().map(|forms| &forms[lane]).filter(|form| form.id != 0)
    }

    /// Whether all lanes are their bits, which nothing computed.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.wide.is_none() && self.forms.is_none()
    }

    /// Whether any of the lanes is more than its bits.
    pub(crate) fn is_wide(&self, lanes: Lanes) -> bool {
        self.wide.as_ref().is_some_and(|wide| lanes.iter().any(|l| wide[l] != Value::Bits))
    }

    /// The lanes are about to be written with plain bits.
    #[inline]
    pub(crate) fn make_plain(&mut self, lanes: Lanes) {
        if lanes.all {
            self.wide = None;
            self.forms = None;
            return;
        }
        if let Some(wide) = &mut self.wide {
            lanes.iter().for_each(|l| wide[l] = Value::Bits);
        }
        if let Some(forms) = &mut self.forms {
            lanes.iter().for_each(|l| forms[l] = Form::NONE);
        }
    }

    /// Sets what a lane may be.
    pub(crate) fn set(&mut self, lane: usize, bits: u64, value: Value) {
        self.bits[lane] = bits;
        if value != Value::Bits || self.wide.is_some() {
            let n = self.bits.len();
            self.wide.get_or_insert_with(|| vec![Value::Bits; n].into())[lane] = value;
        }
        if let Some(forms) = &mut self.forms {
            forms[lane] = Form::NONE;
        }
    }

    /// Sets how a lane's float came about.
    pub(crate) fn set_form(&mut self, lane: usize, form: Form) {
        let n = self.bits.len();
        self.forms.get_or_insert_with(|| vec![Form::NONE; n].into())[lane] = form;
    }

    /// Sets what a lane may be, and how its float came about.
    pub(crate) fn set_made(&mut self, lane: usize, (value, bits): (Value, u64), form: Option<Form>) {
        self.set(lane, bits, value);
        if let Some(form) = form {
            self.set_form(lane, form);
        }
    }

    /// Copies lanes of another register.
    #[inline]
    pub(crate) fn copy(&mut self, from: &Column, lanes: Lanes) {
        if lanes.all {
            let n = lanes.list.len();
            self.bits[..n].copy_from_slice(&from.bits[..n]);
        } else {
            lanes.iter().for_each(|l| self.bits[l] = from.bits[l]);
        }
        if from.is_plain() {
            return self.make_plain(lanes);
        }
        for l in lanes.iter() {
            self.copy_lane(l, from, l);
        }
    }

    /// Copies one lane of another register.
    #[inline]
    pub(crate) fn copy_lane(&mut self, to: usize, from: &Column, lane: usize) {
        self.set(to, from.bits[lane], from.value(lane).clone());
        if let Some(form) = from.form(lane) {
            self.set_form(to, *form);
        }
    }

    /// Copies one lane over another.
    pub(crate) fn duplicate(&mut self, from: usize, to: usize) {
        self.bits[to] = self.bits[from];
        if let Some(wide) = &mut self.wide {
            wide[to] = wide[from].clone();
        }
        if let Some(forms) = &mut self.forms {
            forms[to] = forms[from];
        }
    }
}

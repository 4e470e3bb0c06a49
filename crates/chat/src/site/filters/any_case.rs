//! Rewrites a parsed pattern so that its letters match in either case.
//!
//! The parser can do this, but it tries each character of each class: `[^a]` or `[\W_]` inside another class
//! takes 7 ms, and a pattern may have sixty of them. This code processes only the letters and ranges in the
//! pattern, before they are negated or joined.

use regex_syntax::ast::{
    Ast, ClassAscii, ClassAsciiKind, ClassBracketed, ClassSet, ClassSetItem, ClassSetRange, ClassSetUnion,
    ClassUnicode, Flag, Flags, FlagsItemKind, GroupKind, Literal, Span,
};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{self, ClassUnicodeRange, Hir, HirKind};

use crate::site::filters::patterns::Work;

/// Measured cost of reading a Unicode class, in steps of [`Work`].
const UNICODE_CLASS: usize = 30_000;
const PERL_CLASS: usize = 2_000;

pub(super) fn any_case(ast: &mut Ast, pattern: &str, work: &mut Work) -> Result<(), String> {
    Rewrite { pattern, work }.ast(ast)
}

struct Rewrite<'a> {
    pattern: &'a str,
    work: &'a mut Work,
}

impl Rewrite<'_> {
    /// The parser has bounded the depth of the recursion.
    fn ast(&mut self, ast: &mut Ast) -> Result<(), String> {
        self.work.spend(1)?;
        match ast {
            Ast::Empty(_) | Ast::Dot(_) => {}
            Ast::Assertion(_) | Ast::ClassPerl(_) => self.work.spend(PERL_CLASS)?,
            Ast::Flags(set) => check_flags(&set.flags)?,
            Ast::Literal(literal) => {
                if let Some(items) = self.folded(literal, literal.c, literal.c)? {
                    *ast = bracketed(literal.span, items);
                }
            }
            Ast::ClassUnicode(class) => {
                if let Some(items) = self.of_unicode(class)? {
                    *ast = bracketed(class.span, items);
                }
            }
            Ast::ClassBracketed(class) => self.set(&mut class.kind)?,
            Ast::Repetition(repetition) => self.ast(&mut repetition.ast)?,
            Ast::Group(group) => {
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    check_flags(flags)?;
                }
                self.ast(&mut group.ast)?;
            }
            Ast::Alternation(parts) => parts.asts.iter_mut().try_for_each(|part| self.ast(part))?,
            Ast::Concat(parts) => parts.asts.iter_mut().try_for_each(|part| self.ast(part))?,
        }
        Ok(())
    }

    fn set(&mut self, set: &mut ClassSet) -> Result<(), String> {
        match set {
            ClassSet::Item(item) => self.item(item),
            ClassSet::BinaryOp(both) => {
                self.set(&mut both.lhs)?;
                self.set(&mut both.rhs)
            }
        }
    }

    fn item(&mut self, item: &mut ClassSetItem) -> Result<(), String> {
        self.work.spend(1)?;
        let (span, items) = match item {
            ClassSetItem::Empty(_) => return Ok(()),
            ClassSetItem::Perl(_) => return self.work.spend(PERL_CLASS),
            ClassSetItem::Ascii(ClassAscii { kind, .. }) => {
                if matches!(kind, ClassAsciiKind::Upper | ClassAsciiKind::Lower) {
                    *kind = ClassAsciiKind::Alpha;
                }
                return Ok(());
            }
            ClassSetItem::Bracketed(class) => return self.set(&mut class.kind),
            ClassSetItem::Union(union) => return union.items.iter_mut().try_for_each(|item| self.item(item)),
            ClassSetItem::Literal(literal) => (literal.span, self.folded(literal, literal.c, literal.c)?),
            ClassSetItem::Range(range) => {
                (range.span, self.folded(&range.start, range.start.c, range.end.c)?)
            }
            ClassSetItem::Unicode(class) => (class.span, self.of_unicode(class)?),
        };
        if let Some(items) = items {
            *item = ClassSetItem::Union(ClassSetUnion { span, items });
        }
        Ok(())
    }

    /// None: the characters have no other case, or both cases already.
    fn folded(
        &mut self,
        like: &Literal,
        first: char,
        last: char,
    ) -> Result<Option<Vec<ClassSetItem>>, String> {
        self.work.spend(2 * (last as usize - first as usize) + 1)?;
        let mut class = hir::ClassUnicode::new([ClassUnicodeRange::new(first, last)]);
        let before = class.clone();
        class.try_case_fold_simple().map_err(|why| why.to_string())?;
        Ok((class != before).then(|| items_of(&class, like)))
    }

    /// Most classes contain both cases of all their letters; `\p{Lu}` does not.
    fn of_unicode(&mut self, class: &ClassUnicode) -> Result<Option<Vec<ClassSetItem>>, String> {
        self.work.spend(2 * UNICODE_CLASS)?;
        let ast = Ast::class_unicode(class.clone());
        let read = |any_case| {
            let mut translator = TranslatorBuilder::new().case_insensitive(any_case).build();
            translator
                .translate(self.pattern, &ast)
                .map_err(|why| crate::site::filters::patterns::error_line(&why.to_string()))
        };
        let (plain, folded) = (read(false)?, read(true)?);
        if plain == folded {
            return Ok(None);
        }
        let like = Literal { span: class.span, kind: regex_syntax::ast::LiteralKind::Verbatim, c: 'x' };
        let items = items_of(&unicode_class(&folded), &like);
        // Each item is inserted into its place among all earlier ones.
        self.work.spend(items.len() * items.len() / 8)?;
        Ok(Some(items))
    }
}

fn unicode_class(hir: &Hir) -> hir::ClassUnicode {
    match hir.kind() {
        HirKind::Class(hir::Class::Unicode(class)) => class.clone(),
        HirKind::Literal(literal) => {
            let chars = std::str::from_utf8(&literal.0).unwrap_or_default().chars();
            hir::ClassUnicode::new(chars.map(|c| ClassUnicodeRange::new(c, c)))
        }
        _ => hir::ClassUnicode::empty(),
    }
}

fn items_of(class: &hir::ClassUnicode, like: &Literal) -> Vec<ClassSetItem> {
    let literal = |c| Literal { c, ..like.clone() };
    let range = |range: &ClassUnicodeRange| {
        ClassSetItem::Range(ClassSetRange {
            span: like.span,
            start: literal(range.start()),
            end: literal(range.end()),
        })
    };
    class.ranges().iter().map(range).collect()
}

fn bracketed(span: Span, items: Vec<ClassSetItem>) -> Ast {
    let kind = ClassSet::union(ClassSetUnion { span, items });
    Ast::class_bracketed(ClassBracketed { span, negated: false, kind })
}

/// A pattern always ignores case and matches characters: flags must not change that.
fn check_flags(flags: &Flags) -> Result<(), String> {
    let mut is_negated = false;
    for item in &flags.items {
        match &item.kind {
            FlagsItemKind::Negation => is_negated = true,
            FlagsItemKind::Flag(Flag::CaseInsensitive) if is_negated => {
                return Err("patterns fit in any case of letters: leave out `-i`".into());
            }
            FlagsItemKind::Flag(Flag::Unicode) if is_negated => {
                return Err("patterns are of characters, not of bytes: leave out `-u`".into());
            }
            FlagsItemKind::Flag(_) => {}
        }
    }
    Ok(())
}

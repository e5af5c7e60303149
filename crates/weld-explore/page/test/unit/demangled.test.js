import { test } from 'node:test';
import assert from 'node:assert/strict';
import { findNamespace, componentEnd } from '../../src/group/demangled.js';
import { shortName } from '../../src/view/labels.js';

function namespaces(name) {
  const bytes = new TextEncoder().encode(name);
  const place = { from: 0, to: 0 };
  findNamespace(bytes, 0, bytes.length, place);
  const parts = [];
  for (let at = place.from; at < place.to;) {
    const end = componentEnd(bytes, at, place.to);
    parts.push(new TextDecoder().decode(bytes.subarray(at, end)));
    at = end + 2;
  }
  return parts;
}

for (const [name, parts, short] of [
  ['main', [], 'main'],
  ['std::terminate()', ['std'], 'terminate'],
  [
    'clang::ast::Visitor<std::pair<A::X, B> >::visit(clang::Decl*)',
    ['clang', 'ast', 'Visitor<std::pair<A::X, B> >'],
    'visit',
  ],
  ['void llvm::sort<llvm::X::Y>(llvm::X::Y*, int)', ['llvm'], 'sort<llvm::X::Y>'],
  ['std::vector<int>::iterator ns::f<int>(a::b)', ['ns'], 'f<int>'],
  ['unsigned long const* ns::g<int>()', ['ns'], 'g<int>'],
  ['(anonymous namespace)::helper(int)', ['(anonymous namespace)'], 'helper'],
  ['vtable for engine::Scene', ['engine'], 'Scene'],
  ['typeinfo name for a::b::C', ['a', 'b'], 'C'],
  ['ns::C::operator()(int) const', ['ns', 'C'], 'operator()'],
  ['ns::C::operator<(ns::C const&) const', ['ns', 'C'], undefined],
  ['ns::operator<<(std::ostream&, ns::X)', ['ns'], undefined],
  ['ns::C::operator std::string() const', ['ns', 'C'], undefined],
  ['ns::operator_like::f()', ['ns', 'operator_like'], 'f'],
  ['ns::f(int)::{lambda(a::b)#1}::operator()() const', ['ns', 'f(int)', '{lambda(a::b)#1}'], 'operator()'],
  ['ns::f(int) const [clone .cold]', ['ns'], 'f'],
  ['core::fmt::Formatter::pad', ['core', 'fmt', 'Formatter'], 'pad'],
  ['<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop', ['alloc', 'vec', 'Vec<T,A>'], 'drop'],
  ['<&T as core::fmt::Debug>::fmt', ['core', 'fmt', 'Debug'], 'fmt'],
  ['<&mut dyn a::B as c::D>::e', ['a', 'B'], 'e'],
  ['<[T] as alloc::borrow::ToOwned>::to_owned', ['alloc', 'borrow', 'ToOwned'], 'to_owned'],
  ['<a::B<fn(u8) -> c::D> as e::F>::g', ['a', 'B<fn(u8) -> c::D>'], 'g'],
  [
    'core::ptr::drop_in_place<alloc::string::String>',
    ['core', 'ptr'],
    'drop_in_place<alloc::string::String>',
  ],
  ['<a::B>::c', ['a', 'B'], 'c'],
  ['public: virtual void __cdecl ns::C::f(int)', ['ns', 'C'], 'f'],
  ["`anonymous namespace'::f", ["`anonymous namespace'"], 'f'],
  ["const ns::C::`vftable'", ['ns', 'C'], "`vftable'"],
  ['a::', ['a'], undefined],
  ['::', [], undefined],
  ['<<<((([[[', [], undefined],
  ['>>>)))', [], undefined],
  ['<T as <U as V>::W>::x', [], undefined],
]) {
  test(`namespaces of ${name}`, () => {
    assert.deepEqual(namespaces(name), parts);
    if (short !== undefined) assert.equal(shortName(name), short);
    else assert.equal(typeof shortName(name), 'string');
  });
}

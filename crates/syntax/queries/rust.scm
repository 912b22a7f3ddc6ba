; A doc comment belongs to its item even across a blank line, as an attribute does.
(line_comment outer: (_)) @attribute
(block_comment outer: (_)) @attribute
(line_comment !inner) @comment
(block_comment !inner) @comment
(attribute_item) @attribute

(function_item name: (_) @name) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (_) @name) @definition.struct
(enum_item name: (_) @name) @definition.enum
(union_item name: (_) @name) @definition.union
(trait_item name: (_) @name) @definition.trait
(type_item name: (_) @name) @definition.type
(mod_item name: (_) @name) @definition.module
(macro_definition name: (_) @name) @definition.macro
(const_item name: (_) @name) @definition.constant
(static_item name: (_) @name) @definition.constant

(impl_item
  trait: (_)? @trait
  type: [
    (generic_type type: (scoped_type_identifier name: (_) @name))
    (generic_type type: (type_identifier) @name)
    (scoped_type_identifier name: (_) @name)
    (type_identifier) @name
  ]) @definition.impl
; Any other type: a reference, a tuple, a slice.
(impl_item trait: (_)? @trait type: (_) @name) @definition.impl

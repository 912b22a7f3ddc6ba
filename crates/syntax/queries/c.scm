(comment) @comment
(declaration declarator: (_) declarator: (_)) @shared
(type_definition declarator: (_) declarator: (_)) @shared
; A type with a body that something is declared with: `struct a { ... } b;`.
(declaration type: [(struct_specifier) (union_specifier) (enum_specifier)] @part)
(function_definition type: [(struct_specifier) (union_specifier) (enum_specifier)] @part)
(type_definition type: [(struct_specifier) (union_specifier) (enum_specifier)] @part)
(parameter_declaration type: [(struct_specifier) (union_specifier) (enum_specifier)] @part)
(type_descriptor type: [(struct_specifier) (union_specifier) (enum_specifier)] @part)
(field_declaration
  type: [(struct_specifier) (union_specifier) (enum_specifier)] @part
  declarator: (_))

(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator
      declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]) @definition.function
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  ]) @definition.prototype
(type_definition declarator: (type_identifier) @name) @definition.type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @definition.type
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name)))) @definition.type
(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.union
(enum_specifier name: (_) @name body: (_)) @definition.enum
(preproc_def name: (_) @name value: (_)) @definition.macro
(preproc_function_def name: (_) @name) @definition.macro
; Not those of a function.
(translation_unit
  (declaration
    declarator: (init_declarator
      declarator: [
        (identifier) @name
        (_ declarator: (identifier) @name)
        (_ declarator: (_ declarator: (identifier) @name))
      ])) @definition.variable)
(preproc_ifdef
  (declaration
    declarator: (init_declarator
      declarator: [
        (identifier) @name
        (_ declarator: (identifier) @name)
        (_ declarator: (_ declarator: (identifier) @name))
      ])) @definition.variable)

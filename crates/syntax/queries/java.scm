(line_comment) @comment
(block_comment) @comment
(field_declaration declarator: (_) declarator: (_)) @shared
(constant_declaration declarator: (_) declarator: (_)) @shared

(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(annotation_type_declaration name: (_) @name) @definition.annotation
(enum_declaration name: (_) @name) @definition.enum
(record_declaration name: (_) @name) @definition.record
(method_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name) @definition.constructor
(compact_constructor_declaration name: (_) @name) @definition.constructor
(annotation_type_element_declaration name: (_) @name) @definition.method
; Of the fields only those of the class itself.
(field_declaration (modifiers "static") declarator: (variable_declarator name: (_) @name)) @definition.constant
(constant_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant

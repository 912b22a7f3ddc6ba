(comment) @comment

(rule_set (selectors) @name) @definition.rule
; A rule that begins with `@` is called as everything before its body says.
(media_statement (block) @body) @definition.rule
(supports_statement (block) @body) @definition.rule
(keyframes_statement (keyframe_block_list) @body) @definition.rule
(at_rule (block) @body) @definition.rule

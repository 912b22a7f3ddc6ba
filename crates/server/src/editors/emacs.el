(lambda (asked)
  (let ((kept nil) (count 0))
    (dolist (file asked)
      (let ((buffer (find-buffer-visiting (car file))))
        (when buffer
          (with-current-buffer buffer
            (cond ((buffer-modified-p) (push (buffer-name) kept))
                  ((or (cdr file) (verify-visited-file-modtime buffer)) nil)
                  (t (ignore-errors (revert-buffer t t t) (setq count (1+ count)))))))))
    (when kept
      (message "Emend changed what is unsaved here: %s" (mapconcat 'identity kept ", ")))
    count))

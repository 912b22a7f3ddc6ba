//! Notebooks of several writers, and the bytes that changes of their cells come to.

mod cells;
mod proving;
mod reading;
mod sources;
mod written;

use super::sequence::applied;
use super::{CellAddress, CellChange, CellFault, CellKind, CellPlace, Notebook};

/// As Jupyter writes it.
const JUPYTER: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Röntgen \ud83d\ude00\n",
    "\n",
    "Caf\u00e9 / caf\u00e9\n",
    "Text with \"quotes\""
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "4f1c22aa",
   "metadata": {
    "tags": [
     "parameters"
    ]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1\n"
     ]
    },
    {
     "data": {
      "image/png": "iVBORw0KGgo\nAAAANSUhEUg==\n",
      "text/plain": [
       "<Figure size 640x480 with 1 Axes>"
      ]
     },
     "metadata": {},
     "output_type": "display_data"
    }
   ],
   "source": [
    "import numpy as np\n",
    "x = 1\n",
    "print(x)"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "9b0d11c3",
   "metadata": {},
   "outputs": [],
   "source": []
  }
 ],
 "metadata": {
  "kernelspec": {
   "display_name": "Python 3 (ipykernel)",
   "language": "python",
   "name": "python3"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

/// As Colab writes it: two blanks, an order of keys of its own, no ids, the cells last, no line ending at the end.
const COLAB: &str = r#"{
  "nbformat": 4,
  "nbformat_minor": 0,
  "metadata": {
    "colab": {
      "provenance": [],
      "toc_visible": true
    },
    "kernelspec": {
      "name": "python3",
      "display_name": "Python 3"
    }
  },
  "cells": [
    {
      "cell_type": "markdown",
      "source": [
        "Hello"
      ],
      "metadata": {
        "id": "Xa9_"
      }
    },
    {
      "cell_type": "code",
      "source": [
        "1 / 0"
      ],
      "metadata": {
        "id": "bQ2c",
        "colab": {
          "base_uri": "https://localhost:8080/"
        }
      },
      "execution_count": 1,
      "outputs": [
        {
          "output_type": "error",
          "ename": "ZeroDivisionError",
          "evalue": "division by zero",
          "traceback": [
            "\u001b[0;31m-----\u001b[0m"
          ]
        }
      ]
    }
  ]
}"#;

/// In one line, with sources that are one string.
const MINIFIED: &str = r#"{"cells":[{"cell_type":"code","execution_count":2,"id":"a","metadata":{},"outputs":[{"data":{"text/plain":"2"},"execution_count":2,"metadata":{},"output_type":"execute_result"}],"source":"x = 1\nx + 1"},{"cell_type":"markdown","id":"b","metadata":{},"source":"*\u00e9*"}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;

/// As VS Code writes it with four blanks, with a language in the metadata of cells.
const VSCODE: &str = r##"{
    "cells": [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {
                "vscode": {
                    "languageId": "python"
                }
            },
            "outputs": [
                {
                    "name": "stderr",
                    "output_type": "stream",
                    "text": "warning\n"
                },
                {
                    "data": {
                        "text/html": [
                            "<b>1</b>"
                        ],
                        "text/plain": [
                            "1"
                        ]
                    },
                    "execution_count": 1,
                    "metadata": {},
                    "output_type": "execute_result"
                }
            ],
            "source": [
                "a = 1\n",
                "a\n"
            ]
        },
        {
            "attachments": {
                "i.png": {
                    "image/png": "iVBORw0KGgo="
                }
            },
            "cell_type": "markdown",
            "metadata": {},
            "source": [
                "![i](attachment:i.png)"
            ]
        }
    ],
    "metadata": {
        "language_info": {
            "name": "python"
        }
    },
    "nbformat": 4,
    "nbformat_minor": 2
}
"##;

/// All beyond ASCII is escaped, as Python does unless it is told otherwise.
const ESCAPED: &str = r#"{"cells": [{"cell_type": "raw", "metadata": {}, "source": ["caf\u00e9 \\u00ff\n", "two"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}"#;

fn id(id: &str) -> CellAddress {
    CellAddress::Id(id.to_owned())
}

fn source(cell: CellAddress, text: &str) -> CellChange {
    CellChange::Source { cell, text: text.to_owned() }
}

fn insert(place: CellPlace, kind: CellKind, text: &str) -> CellChange {
    CellChange::Insert { place, kind, text: text.to_owned() }
}

fn kind(cell: CellAddress, kind: CellKind) -> CellChange {
    CellChange::Kind { cell, kind }
}

fn made(text: &str, changes: &[CellChange]) -> Result<String, (usize, CellFault)> {
    let splices = Notebook::read(text).unwrap().change(changes)?;
    assert!(splices.windows(2).all(|two| two[0].range.end < two[1].range.start), "{splices:?}");
    Ok(applied(text, 0..text.len(), &splices))
}

#[track_caller]
fn check(text: &str, changes: &[CellChange], expected: &str) {
    match made(text, changes) {
        Ok(new) => assert_eq!(new, expected),
        Err(fault) => panic!("{fault:?}"),
    }
}

/// Checks what a text becomes in which this is replaced, which stands there once.
#[track_caller]
fn check_replaced(text: &str, changes: &[CellChange], old: &str, new: &str) {
    assert_eq!(text.matches(old).count(), 1, "{old}");
    check(text, changes, &text.replace(old, new));
}

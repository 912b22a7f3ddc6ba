//! Readings of notebooks by cells: the source of each under its number, id and kind, with a word on what it has put out.

use std::fmt::Write;

use emend_data::notebook::{Cell, CellAddress, Image, Notebook};
use emend_edit::Text;
use emend_workspace::problem::{Kind, Problem};

use crate::messages;

/// The most bytes of images that one reading shows.
const IMAGES: usize = 4 << 20;
/// What follows a cell that is not shown whole.
const GOES_ON: &str = "\nThe cell goes on: offset and limit show the lines of the file.\n";

/// What is shown of a notebook.
pub(crate) struct CellsShown {
    /// What stands in the header behind the name.
    pub(crate) title: String,
    pub(crate) lines: String,
    pub(crate) after: String,
    pub(crate) images: Vec<Image>,
}

/// Returns whether a file is a notebook by its name.
pub(crate) fn is_notebook(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("ipynb"))
}

/// Reads the notebook in a text.
pub(crate) fn read<'t>(name: &str, text: &'t Text) -> Result<Notebook<'t>, Problem> {
    let refused =
        |message: String| Problem::new(Kind::InvalidArgument { name: "cell".into(), message }).at(name);
    if !is_notebook(name) {
        return Err(refused("only notebooks (.ipynb) have cells".to_owned()));
    }
    let characters = text.known_characters().map_err(|kind| Problem::new(kind).at(name))?;
    let unread = |unread: emend_data::Unread| {
        refused(format!(
            "line {} is no notebook's: {}; read it with offset and limit",
            unread.line, unread.why
        ))
    };
    Notebook::read(characters).map_err(unread)
}

/// Finds the cell that an argument names: by its id, or by its number from 0.
pub(crate) fn address(notebook: &Notebook<'_>, written: &str) -> CellAddress {
    let has_id = notebook.cells().iter().any(|cell| cell.id.as_deref() == Some(written));
    let is_number = written.bytes().all(|byte| byte.is_ascii_digit());
    match written.parse() {
        Ok(index) if is_number && !has_id => CellAddress::Index(index),
        _ => CellAddress::Id(written.to_owned()),
    }
}

/// Finds the cell that an argument names.
pub(crate) fn find<'n>(notebook: &'n Notebook<'_>, name: &str, written: &str) -> Result<&'n Cell, Problem> {
    notebook.find(&address(notebook, written)).map_err(|fault| {
        let message = messages::data::cell_fault(&fault);
        Problem::new(Kind::InvalidArgument { name: "cell".into(), message }).at(name)
    })
}

/// Shows all cells, as many as fit into this room.
pub(crate) fn all(notebook: &Notebook<'_>, room: usize) -> CellsShown {
    let cells = notebook.cells();
    let mut lines = String::new();
    let mut after = String::new();
    for cell in cells {
        let shown = one(cell);
        if lines.len() + shown.len() > room && !lines.is_empty() {
            let rest = cells.len() - cell.position;
            let _ = writeln!(
                after,
                "{rest} more cells from {} on: read_file with cell shows one.",
                cell.position
            );
            break;
        }
        lines.push_str(&shown);
    }
    if cut(&mut lines, room) {
        after.insert_str(0, GOES_ON);
    }
    let title = format!("{} cells", cells.len());
    CellsShown { title, lines, after, images: Vec::new() }
}

/// Shows one cell, with the images that it has put out.
pub(crate) fn single(notebook: &Notebook<'_>, cell: &Cell, room: usize) -> CellsShown {
    let mut lines = one(cell);
    let mut after = String::new();
    if cut(&mut lines, room) {
        after.push_str(GOES_ON);
    }
    let mut left = IMAGES;
    let mut images = notebook.images(cell.position);
    let count = images.len();
    images.retain(|image| match left.checked_sub(image.base64.len()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    });
    if images.len() < count {
        let _ = writeln!(after, "{} of {count} images are too large to be shown.", count - images.len());
    }
    CellsShown {
        title: format!("cell {} of {}", cell.position, notebook.cells().len()),
        lines,
        after,
        images,
    }
}

/// Cuts what has no room. Returns whether that is anything.
fn cut(text: &mut String, room: usize) -> bool {
    let end = (0..=room.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let is_cut = end < text.len();
    text.truncate(end);
    is_cut
}

fn one(cell: &Cell) -> String {
    let mut shown = format!("[{}] {}", cell.position, cell.kind.name());
    if let Some(id) = &cell.id {
        // An id could have a line end, and more of what looks like a reading.
        let _ = write!(shown, " id=");
        for letter in id.chars() {
            match letter.is_control() {
                true => shown.extend(letter.escape_default()),
                false => shown.push(letter),
            }
        }
    }
    if let Some(outputs) = &cell.outputs {
        let _ = write!(shown, " ({outputs})");
    }
    shown.push('\n');
    for (line, number) in cell.source.split_inclusive('\n').zip(1..) {
        let _ = writeln!(shown, "{number:>6}\t{}", line.strip_suffix('\n').unwrap_or(line));
    }
    shown
}

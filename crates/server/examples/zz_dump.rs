//! dump
use emend_edit::patch::recognise::{self, Format};
use emend_server::messages::{Audience, message};
use emend_workspace::problem::Problem;
use std::collections::BTreeMap;
fn walk(dir: &std::path::Path, out: &mut Vec<String>) {
    let Ok(read) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = read.map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, out)
        } else if let Ok(t) = std::fs::read_to_string(&path) {
            if t.len() < 1500 {
                out.push(t)
            }
        }
    }
}
fn main() {
    let mut inputs = Vec::new();
    walk(std::path::Path::new("tests/fuzz/seeds"), &mut inputs);
    walk(std::path::Path::new("tests/fuzz/dictionaries"), &mut inputs);
    let mut cases = Vec::new();
    walk(std::path::Path::new("tests/cases"), &mut cases);
    cases.retain(|c| c.len() < 300);
    inputs.extend(cases);
    // every string literal of the parsers' tests
    let mut sources = Vec::new();
    walk(std::path::Path::new("/tmp/h/msg/literals"), &mut sources);
    inputs.extend(sources);
    inputs.push(String::new());
    let mut seen: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut all = std::collections::hash_map::DefaultHasher::new();
    use std::hash::{Hash, Hasher};
    let mut count = 0usize;
    for input in &inputs {
        let lines: Vec<&str> = input.split('\n').collect();
        let mut mutants = vec![
            input.clone(),
            format!("```diff\n{input}"),
            format!("Text\n{input}\nmore"),
            format!("{input}\n{input}"),
        ];
        for i in 0..lines.len().min(9) {
            let mut l = lines.clone();
            l.remove(i);
            mutants.push(l.join("\n"));
            let mut l = lines.clone();
            l.insert(i, l[i]);
            mutants.push(l.join("\n"));
            mutants.push(lines[..i].join("\n"));
            let mut l = lines.clone();
            let x = format!("*{}", l[i]);
            l[i] = &x;
            mutants.push(l.join("\n"));
            let mut l = lines.clone();
            let x: String = l[i].chars().skip(1).collect();
            l[i] = &x;
            mutants.push(l.join("\n"));
            let mut l = lines.clone();
            let x = l[i].replace('1', "7");
            l[i] = &x;
            mutants.push(l.join("\n"));
        }
        for m in &mutants {
            for format in std::iter::once(None).chain(Format::ALL.iter().copied().map(Some)) {
                for path in [None, Some("src/f")] {
                    let Err(problems) = recognise::parse(m, format, path) else { continue };
                    for p in problems {
                        let p: Problem = p.into();
                        for a in [Audience::Model, Audience::Person] {
                            let t = message(&p, a);
                            (m, &t, p.hunk, &p.path).hash(&mut all);
                            count += 1;
                            let template: String = t.chars().filter(|c| !c.is_ascii_digit()).collect();
                            let key: String = template.split('\'').step_by(2).collect::<Vec<_>>().join("'");
                            let e = seen.entry(format!("{a:?} {key}")).or_insert((0, t));
                            e.0 += 1;
                        }
                    }
                }
            }
        }
    }
    for (k, (n, t)) in &seen {
        println!("{n} {}: {t:?}", &k[..6]);
    }
    println!("{} {} {:x}", inputs.len(), count, all.finish());
}

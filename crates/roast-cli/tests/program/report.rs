//! `roastcoffea report`.

use crate::saved::Saved;

const DATA: &str = "<script type=\"application/json\" id=\"page-data\">";

#[test]
fn the_page_goes_to_a_file_or_to_standard_output() {
    let saved = Saved::new();
    let to_file = saved.run(&["report", "runs/ttbar"]);
    assert_eq!(
        (to_file.code, to_file.stdout.as_str(), to_file.stderr.as_str()),
        (Some(0), "ttbar.html\n", "")
    );
    let written = std::fs::read_to_string(saved.path("ttbar.html")).unwrap();
    let (_, data) = written.split_once(DATA).unwrap();
    let (json, _) = data.split_once("</script>").unwrap();
    let page: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(page["name"], "ttbar");
    assert_eq!(page["format"], 1);
    let to_stdout = saved.run(&["report", "runs/ttbar", "-o", "-"]);
    assert_eq!((to_stdout.code, to_stdout.stdout), (Some(0), written));
    assert_eq!(saved.entries("."), ["runs", "ttbar.html"]);
}

#[test]
fn what_exists_is_replaced_only_when_told() {
    let saved = Saved::new();
    std::fs::write(saved.path("run.html"), "mine").unwrap();
    let refused = saved.run(&["report", "runs/ttbar", "-o", "run.html"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert_eq!(
        refused.stderr,
        "error: run.html exists already\n\
         hint: pass --force to replace it, or choose another place with -o\n"
    );
    assert_eq!(std::fs::read_to_string(saved.path("run.html")).unwrap(), "mine");
    let forced = saved.run(&["report", "runs/ttbar", "-o", "run.html", "--force"]);
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert!(std::fs::read_to_string(saved.path("run.html")).unwrap().contains(DATA));
    assert_eq!(saved.entries("."), ["run.html", "runs"]);
}

#[test]
fn it_never_lands_in_a_measurement() {
    let saved = Saved::new();
    let before = saved.entries("runs/ttbar");
    let refused = saved.run(&["report", "runs/ttbar", "-o", "runs/ttbar/run.html", "--force"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("inside of a measurement"), "{}", refused.stderr);
    let refused = saved.run(&["report", "runs/ttbar", "-o", "runs"]);
    assert!(refused.stderr.contains("runs is a directory"), "{}", refused.stderr);
    assert_eq!(saved.entries("runs/ttbar"), before);
    assert_eq!(saved.entries("."), ["runs"]);
}

#[test]
fn what_cannot_be_read_or_written_leaves_nothing() {
    let saved = Saved::new();
    let nowhere = saved.run(&["report", "runs/ttbar", "-o", "no/such/run.html"]);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.stderr.contains("no/such/run.html"), "{}", nowhere.stderr);
    let typo = saved.run(&["report", "runs/tbar", "-o", "run.html"]);
    assert_eq!(typo.code, Some(1));
    assert!(typo.stderr.contains("did you mean runs/ttbar?"), "{}", typo.stderr);
    assert_eq!(saved.entries("."), ["runs"]);
}

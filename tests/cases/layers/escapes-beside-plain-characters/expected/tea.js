function brew() {
  heat("<kettle>");
  pour("&gt;", a > b);
}

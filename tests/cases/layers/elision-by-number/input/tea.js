function brew() {
  heat("<kettle>");
  pour();
}

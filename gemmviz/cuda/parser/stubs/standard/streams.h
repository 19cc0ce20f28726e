// Streams, their manipulators, and exceptions.
#pragma once

namespace std {
class ios_base {
 public:
  enum openmode { in = 1, out = 2, binary = 4, app = 8, trunc = 16, ate = 32 };
  enum seekdir { beg, cur, end };
};
class ios : public ios_base {
 public:
  template <class... A> int precision(A...);
  template <class... A> void setf(A...);
  static void sync_with_stdio(bool);
  bool good() const;
  bool fail() const;
  bool eof() const;
  explicit operator bool() const;
  bool operator!() const;
};
class ostream : public ios {
 public:
  template <class T> ostream& operator<<(const T&);
  ostream& operator<<(ostream& (*)(ostream&));
  ostream& write(const char*, long);
  ostream& flush();
};
class istream : public ios {
 public:
  template <class T> istream& operator>>(T&);
  istream& read(char*, long);
  istream& ignore(long = 1, int = 0);
  template <class... A> istream& seekg(A...);
  long tellg();
};
class iostream : public ostream, public istream {};
class ofstream : public ostream {
 public:
  template <class... A> ofstream(A&&...);
  template <class... A> void open(A&&...);
  void close();
  bool is_open() const;
};
class ifstream : public istream {
 public:
  template <class... A> ifstream(A&&...);
  template <class... A> void open(A&&...);
  void close();
  bool is_open() const;
};
class fstream : public ofstream { using ofstream::ofstream; };
class stringstream : public ostream {
 public:
  template <class... A> stringstream(A&&...);
  template <class T> stringstream& operator>>(T&);
  string str() const;
};
using ostringstream = stringstream;
using istringstream = stringstream;
extern ostream cout, cerr, clog;
extern istream cin;
ostream& endl(ostream&);
ostream& flush(ostream&);
ostream& fixed(ostream&);
ostream& scientific(ostream&);
ostream& boolalpha(ostream&);
ostream& hex(ostream&);
ostream& dec(ostream&);
ostream& left(ostream&);
ostream& right(ostream&);
__GEMMVIZ_ANY(setw, int)
__GEMMVIZ_ANY(setprecision, int)
__GEMMVIZ_ANY(setfill, int)
template <class S> istream& getline(S&, string&, char = 0);

class exception {
 public:
  const char* what() const;
};
#define __GEMMVIZ_EXCEPTION(NAME) class NAME : public exception { public: NAME(const string&); };
__GEMMVIZ_EXCEPTION(runtime_error)
__GEMMVIZ_EXCEPTION(logic_error)
__GEMMVIZ_EXCEPTION(invalid_argument)
__GEMMVIZ_EXCEPTION(out_of_range)
__GEMMVIZ_EXCEPTION(domain_error)
__GEMMVIZ_EXCEPTION(length_error)
class bad_alloc : public exception {};
}  // namespace std
